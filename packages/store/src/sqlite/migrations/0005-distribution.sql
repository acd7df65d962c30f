-- What executions need of a worker, how often workers lost them, when they may begin at all; one
-- execution per unique key. Workers outlive their sessions; a session's stream is held by one server.

CREATE TABLE executions_distributed (
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
  input_apart        INTEGER NOT NULL,   -- 1: the input is in execution_inputs
  -- Last, so that reading the columns before them does not load their overflow pages.
  input              TEXT,               -- NULL: null, or apart
  output             TEXT                -- NULL: null
) STRICT;

INSERT INTO executions_distributed (
  execution_id, namespace, workflow, version, module_hash, name, state, failure, worker, session,
  last_worker, last_session, generation, head, last_time, resuming, waits, signals, watchers,
  wake_at, timeout_ms, cancelling, seed, transient, priority, queued_at, parent_id, parent_call_id,
  detached, depth, forked_from, created_at, started_at, finished_at, updated_at, input_apart, input,
  output)
SELECT
  execution_id, namespace, workflow, version, module_hash, name, state, failure, worker, session,
  last_worker, last_session, generation, head, last_time, resuming, waits, signals, watchers,
  wake_at, timeout_ms, cancelling, seed, transient, priority, queued_at, parent_id, parent_call_id,
  detached, depth, forked_from, created_at, started_at, finished_at, updated_at, input_apart, input,
  output
FROM executions ORDER BY rowid;

DROP TABLE executions;
ALTER TABLE executions_distributed RENAME TO executions;

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

CREATE TABLE workers (
  name          TEXT    NOT NULL PRIMARY KEY,
  desired_state TEXT    NOT NULL DEFAULT 'active',
  registered_at INTEGER NOT NULL
) STRICT;

INSERT INTO workers (name, registered_at) SELECT worker, min(created_at) FROM sessions GROUP BY worker;

ALTER TABLE sessions ADD COLUMN dispatch TEXT NOT NULL DEFAULT 'event';
ALTER TABLE sessions ADD COLUMN engine_version TEXT NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN runtime TEXT NOT NULL DEFAULT '{"os":"","arch":"","node":""}';
ALTER TABLE sessions ADD COLUMN resources TEXT;
ALTER TABLE sessions ADD COLUMN packages TEXT NOT NULL DEFAULT '[]';
ALTER TABLE sessions ADD COLUMN services TEXT NOT NULL DEFAULT '[]';
ALTER TABLE sessions ADD COLUMN replica TEXT;
ALTER TABLE sessions ADD COLUMN epoch INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN connected_at INTEGER;
ALTER TABLE sessions ADD COLUMN disconnected_at INTEGER;
ALTER TABLE sessions ADD COLUMN lost_at INTEGER;

-- Heard of often, so apart from what claims look at.
CREATE TABLE session_beats (
  session_id TEXT    NOT NULL PRIMARY KEY,
  seen_at    INTEGER NOT NULL,
  said_at    INTEGER,                     -- NULL: no heartbeat yet
  said       TEXT
) STRICT;

CREATE INDEX sessions_ended ON sessions (ended_at) WHERE ended_at IS NOT NULL;

-- Numbers of versions whose rows are deleted: they are not used again.
CREATE TABLE retired_versions (
  namespace TEXT    NOT NULL,
  name      TEXT    NOT NULL,
  version   INTEGER NOT NULL,             -- the newest of them
  PRIMARY KEY (namespace, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE replicas (
  replica TEXT    NOT NULL PRIMARY KEY,
  seen_at INTEGER NOT NULL
) STRICT;
