-- A row to write when nothing else was for a while, to see whether that is possible.
CREATE TABLE writes_tried (count INTEGER NOT NULL) STRICT;
INSERT INTO writes_tried VALUES (0);
