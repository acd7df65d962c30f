-- A rowid table: what executions write at the same time comes to lie on the same few pages at its
-- end, where before each execution had a page of its own to write. The key's tree is small.
CREATE TABLE segments_appended (
  execution_id TEXT    NOT NULL,
  seq          INTEGER NOT NULL,
  last_seq     INTEGER NOT NULL,
  recorded_at  INTEGER NOT NULL,
  events       TEXT    NOT NULL,
  PRIMARY KEY (execution_id, seq)
) STRICT;

INSERT INTO segments_appended SELECT * FROM segments ORDER BY execution_id, seq;
DROP TABLE segments;
ALTER TABLE segments_appended RENAME TO segments;
