-- A row to write when nothing else was for a while, to see whether that is possible.
CREATE TABLE writes_tried (filler BLOB NOT NULL) STRICT;
INSERT INTO writes_tried VALUES (x'');
