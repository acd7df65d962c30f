-- What executions wait for, and when the engine has to look at them again. The table is made anew,
-- since ADD COLUMN would put the new columns behind input and output and their overflow pages.
CREATE TABLE executions_with_waits (
  execution_id   TEXT    NOT NULL PRIMARY KEY,
  namespace      TEXT    NOT NULL,
  workflow       TEXT    NOT NULL,
  version        INTEGER,
  module_hash    TEXT,
  name           TEXT,
  state          TEXT    NOT NULL,
  failure        TEXT,
  worker         TEXT,
  session        TEXT,
  last_worker    TEXT,
  last_session   TEXT,
  generation     INTEGER NOT NULL,
  head           INTEGER NOT NULL,
  last_time      INTEGER NOT NULL,
  resuming       INTEGER NOT NULL,
  waits          TEXT,               -- NULL: none; so are the next two
  signals        TEXT,
  watchers       TEXT,
  wake_at        INTEGER,            -- NULL: never
  timeout_ms     INTEGER,
  cancelling     TEXT,
  seed           TEXT    NOT NULL,
  transient      INTEGER NOT NULL DEFAULT 0,
  priority       INTEGER NOT NULL,
  queued_at      INTEGER NOT NULL,
  parent_id      TEXT,
  parent_call_id TEXT,
  detached       INTEGER NOT NULL DEFAULT 0,
  depth          INTEGER NOT NULL DEFAULT 0,
  forked_from    TEXT,
  created_at     INTEGER NOT NULL,
  started_at     INTEGER,
  finished_at    INTEGER,
  updated_at     INTEGER NOT NULL,
  input_apart    INTEGER NOT NULL,   -- 1: the input is in execution_inputs
  -- Last, so that reading the columns before them does not load their overflow pages.
  input          TEXT,               -- NULL: null, or apart
  output         TEXT                -- NULL: null
) STRICT;

INSERT INTO executions_with_waits (
  execution_id, namespace, workflow, version, module_hash, name, state, failure, worker, session,
  last_worker, last_session, generation, head, last_time, resuming, waits, seed, priority,
  queued_at, parent_id, parent_call_id, created_at, started_at, finished_at, updated_at,
  input_apart, input, output)
SELECT
  execution_id, namespace, workflow, version, module_hash, name, state, failure, worker, session,
  last_worker, last_session, generation, head, last_time, resuming, waits, execution_id, priority,
  queued_at, parent_id, parent_call_id, created_at, started_at, finished_at, updated_at,
  input_apart, input, output
FROM executions ORDER BY rowid;

DROP TABLE executions;
ALTER TABLE executions_with_waits RENAME TO executions;

-- As before; they went with the old table.
CREATE INDEX executions_queued ON executions (priority DESC, queued_at, execution_id)
  WHERE session IS NULL AND version IS NOT NULL AND state IN ('CREATED', 'RESUMING', 'CANCELLING');
CREATE INDEX executions_owned ON executions (session) WHERE session IS NOT NULL;
CREATE INDEX executions_workflow ON executions (namespace, workflow, execution_id);

-- The timers of a server. Local rows (no version) are woken by their own process.
CREATE INDEX executions_due ON executions (wake_at, execution_id)
  WHERE wake_at IS NOT NULL AND version IS NOT NULL;
CREATE INDEX executions_children ON executions (parent_id, execution_id)
  WHERE parent_id IS NOT NULL;
