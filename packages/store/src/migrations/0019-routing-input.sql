-- Values that only the choice of a worker reads, and nobody is shown.
-- sqlite
-- Made anew: a column that is added comes last, behind the values.
CREATE TABLE executions_routed (
  execution_id       TEXT    NOT NULL PRIMARY KEY,
  namespace          TEXT    NOT NULL,
  workflow           TEXT    NOT NULL,
  version            INTEGER,
  module_hash        TEXT,
  name               TEXT,
  state              TEXT    NOT NULL,
  failure            TEXT,
  worker             TEXT,
  session            TEXT,
  last_worker        TEXT,
  last_session       TEXT,
  generation         INTEGER NOT NULL,
  head               INTEGER NOT NULL,
  last_time          INTEGER NOT NULL,
  resuming           INTEGER NOT NULL,
  waits              TEXT,
  signals            TEXT,
  watchers           TEXT,
  wake_at            INTEGER,
  timeout_ms         INTEGER,
  cancelling         TEXT,
  seed               TEXT    NOT NULL,
  transient          INTEGER NOT NULL DEFAULT 0,
  requirements       TEXT,               -- NULL: any worker may have it
  losses             TEXT,               -- NULL: none since the last outcome
  outcome_generation INTEGER NOT NULL DEFAULT 0,
  not_before         INTEGER,
  park_ttl_ms        INTEGER,
  park_by            INTEGER,
  unique_key         TEXT,
  request_hash       TEXT,
  schedule           TEXT,
  scheduled_for      INTEGER,
  priority           INTEGER NOT NULL,
  queued_at          INTEGER NOT NULL,
  parent_id          TEXT,
  parent_call_id     TEXT,
  detached           INTEGER NOT NULL DEFAULT 0,
  depth              INTEGER NOT NULL DEFAULT 0,
  forked_from        TEXT,
  created_at         INTEGER NOT NULL,
  started_at         INTEGER,
  finished_at        INTEGER,
  updated_at         INTEGER NOT NULL,
  started_by         TEXT,               -- NULL: nobody, as without authorization
  run_as             TEXT,
  routing_input      TEXT,               -- NULL: none; sealed where there is a key
  input_apart        INTEGER NOT NULL,   -- 1: the input is in execution_inputs
  -- Last, so that reading the columns before them does not load their overflow pages.
  input              TEXT,               -- NULL: null, or apart
  output             TEXT                -- NULL: null
) STRICT;

INSERT INTO executions_routed (
  execution_id, namespace, workflow, version, module_hash, name, state, failure, worker,
  session, last_worker, last_session, generation, head, last_time, resuming, waits, signals,
  watchers, wake_at, timeout_ms, cancelling, seed, transient, requirements, losses,
  outcome_generation, not_before, park_ttl_ms, park_by, unique_key, request_hash, schedule,
  scheduled_for, priority, queued_at, parent_id, parent_call_id, detached, depth, forked_from,
  created_at, started_at, finished_at, updated_at, started_by, run_as, input_apart, input, output)
SELECT
  execution_id, namespace, workflow, version, module_hash, name, state, failure, worker,
  session, last_worker, last_session, generation, head, last_time, resuming, waits, signals,
  watchers, wake_at, timeout_ms, cancelling, seed, transient, requirements, losses,
  outcome_generation, not_before, park_ttl_ms, park_by, unique_key, request_hash, schedule,
  scheduled_for, priority, queued_at, parent_id, parent_call_id, detached, depth, forked_from,
  created_at, started_at, finished_at, updated_at, started_by, run_as, input_apart, input, output
FROM executions ORDER BY rowid;

DROP TABLE executions;
ALTER TABLE executions_routed RENAME TO executions;

CREATE INDEX executions_queued ON executions (priority DESC, queued_at, execution_id)
  WHERE session IS NULL AND version IS NOT NULL AND not_before IS NULL
    AND state IN ('CREATED', 'RESUMING', 'CANCELLING');
CREATE INDEX executions_owned ON executions (session) WHERE session IS NOT NULL;
CREATE INDEX executions_workflow ON executions (namespace, workflow, execution_id);
-- The timers of a server. Local rows (no version) are woken by their own process.
CREATE INDEX executions_due ON executions (wake_at, execution_id)
  WHERE wake_at IS NOT NULL AND version IS NOT NULL;
CREATE INDEX executions_children ON executions (parent_id, execution_id)
  WHERE parent_id IS NOT NULL;
CREATE UNIQUE INDEX executions_unique ON executions (unique_key) WHERE unique_key IS NOT NULL;
CREATE INDEX executions_schedule ON executions (schedule, execution_id) WHERE schedule IS NOT NULL;
-- What a fork was made from is kept as long as the fork.
CREATE INDEX executions_forks ON executions (forked_from) WHERE forked_from IS NOT NULL;
-- Runs of a schedule that have not ended, among however many that have.
CREATE INDEX executions_schedule_open ON executions (schedule, execution_id)
  WHERE schedule IS NOT NULL AND finished_at IS NULL;
-- Whose executions have not ended; without authorization nobody's.
CREATE INDEX executions_run_as ON executions (run_as, execution_id) WHERE finished_at IS NULL;
-- Those with something under a key, which is sealed anew when the key changes.
CREATE INDEX executions_routing ON executions (execution_id) WHERE routing_input IS NOT NULL;
-- postgres
ALTER TABLE executions ADD COLUMN routing_input TEXT COLLATE "C";
-- Those with something under a key, which is sealed anew when the key changes.
CREATE INDEX executions_routing ON executions (execution_id) WHERE routing_input IS NOT NULL;
