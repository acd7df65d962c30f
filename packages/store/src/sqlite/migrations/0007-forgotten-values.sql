-- Executions whose rows are gone and whose values outside of the database may not be. Written with
-- the deletion, so that a crash in between leaves nothing that nobody knows of.
CREATE TABLE forgotten_values (execution_id TEXT NOT NULL PRIMARY KEY) STRICT, WITHOUT ROWID;
