-- Instants are milliseconds since 1970. Columns named like a type of the contract hold it as JSON.

-- A rowid table on purpose: an update finds the row through the id's index and then touches only
-- the table, and rows may grow without crowding a key's tree.
CREATE TABLE executions (
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
  waits          TEXT,               -- NULL: none
  priority       INTEGER NOT NULL,
  queued_at      INTEGER NOT NULL,
  parent_id      TEXT,
  parent_call_id TEXT,
  created_at     INTEGER NOT NULL,
  started_at     INTEGER,
  finished_at    INTEGER,
  updated_at     INTEGER NOT NULL,
  input_apart    INTEGER NOT NULL,   -- 1: the input is in execution_inputs
  -- Last, so that reading the columns before them does not load their overflow pages.
  input          TEXT,               -- NULL: null, or apart
  output         TEXT                -- NULL: null
) STRICT;

-- Partial, so that finished rows cost the live path nothing. The queries repeat these conditions
-- word for word, else SQLite does not use the index.
CREATE INDEX executions_queued ON executions (priority DESC, queued_at, execution_id)
  WHERE session IS NULL AND version IS NOT NULL AND state IN ('CREATED', 'RESUMING', 'CANCELLING');
CREATE INDEX executions_owned ON executions (session) WHERE session IS NOT NULL;
-- Ids are UUIDv7: in each list their order is that of creation.
CREATE INDEX executions_workflow ON executions (namespace, workflow, execution_id);

-- Inputs that would make every update of their row write them again.
CREATE TABLE execution_inputs (
  execution_id TEXT NOT NULL PRIMARY KEY,
  input        TEXT NOT NULL
) STRICT;

-- The log. One row holds all events of one change: seq is that of its first event.
CREATE TABLE segments (
  execution_id TEXT    NOT NULL,
  seq          INTEGER NOT NULL,
  last_seq     INTEGER NOT NULL,
  recorded_at  INTEGER NOT NULL,
  events       TEXT    NOT NULL,
  PRIMARY KEY (execution_id, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE modules (
  hash   TEXT NOT NULL PRIMARY KEY,
  bundle TEXT NOT NULL
) STRICT;

-- The source files of a registration, once per content.
CREATE TABLE file_sets (
  hash  TEXT NOT NULL PRIMARY KEY,
  files TEXT NOT NULL
) STRICT;

CREATE TABLE workflow_versions (
  namespace     TEXT    NOT NULL,
  name          TEXT    NOT NULL,
  version       INTEGER NOT NULL,
  extracted     TEXT    NOT NULL,
  content_hash  TEXT    NOT NULL,
  source_hash   TEXT    NOT NULL,
  module_hash   TEXT    NOT NULL REFERENCES modules (hash),
  file_set_hash TEXT    NOT NULL REFERENCES file_sets (hash),
  created_at    INTEGER NOT NULL,
  created_by    TEXT,
  PRIMARY KEY (namespace, name, version)
) STRICT, WITHOUT ROWID;

CREATE TABLE sessions (
  session_id     TEXT    NOT NULL PRIMARY KEY,
  token_hash     TEXT    NOT NULL,
  worker         TEXT    NOT NULL,
  instance_id    TEXT    NOT NULL,
  host           TEXT    NOT NULL,
  pid            INTEGER NOT NULL,
  labels         TEXT    NOT NULL,
  slots          INTEGER NOT NULL,
  runners        TEXT    NOT NULL,
  default_runner TEXT    NOT NULL,
  created_at     INTEGER NOT NULL,
  last_seen_at   INTEGER NOT NULL,
  ended_at       INTEGER,
  end_reason     TEXT
) STRICT;

-- A worker name has one live session at most (WRK-4).
CREATE UNIQUE INDEX sessions_live ON sessions (worker) WHERE ended_at IS NULL;
CREATE INDEX sessions_secret ON sessions (worker, token_hash);
