-- sqlite
-- A row to write when nothing else was for a while, to see whether that is possible.
CREATE TABLE writes_tried (filler BLOB NOT NULL) STRICT;
INSERT INTO writes_tried VALUES (x'');
-- postgres
-- Nothing: a server notes every 2 s that it lives. SQLite gets a row to write when nothing else is.
