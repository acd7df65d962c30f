-- Instants are milliseconds since 1970. Columns named like a type of the contract hold it as JSON.
-- PostgreSQL begins where SQLite is at its fourth migration; from there on both have the same numbers.
-- Text compares by bytes, whatever the database's language: ids and names are ordered as in SQLite.

-- Rows are written several times in a short life: free room on each page lets most of those writes
-- stay on it without touching an index, and the vacuum comes early.
CREATE TABLE executions (
  execution_id   TEXT     COLLATE "C" NOT NULL PRIMARY KEY,
  namespace      TEXT     COLLATE "C" NOT NULL,
  workflow       TEXT     COLLATE "C" NOT NULL,
  version        INTEGER,
  module_hash    TEXT     COLLATE "C",
  name           TEXT     COLLATE "C",
  name_folded    TEXT     COLLATE "C",    -- the name in lower case, as JavaScript has it
  state          TEXT     COLLATE "C" NOT NULL,
  failure        TEXT     COLLATE "C",
  worker         TEXT     COLLATE "C",
  session        TEXT     COLLATE "C",
  last_worker    TEXT     COLLATE "C",
  last_session   TEXT     COLLATE "C",
  generation     INTEGER  NOT NULL,
  head           INTEGER  NOT NULL,
  last_time      BIGINT   NOT NULL,
  resuming       SMALLINT NOT NULL,
  waits          TEXT     COLLATE "C",    -- NULL: none; so are the next two
  signals        TEXT     COLLATE "C",
  watchers       TEXT     COLLATE "C",
  wake_at        BIGINT,                  -- NULL: never
  timeout_ms     BIGINT,
  cancelling     TEXT     COLLATE "C",
  seed           TEXT     COLLATE "C" NOT NULL,
  transient      SMALLINT NOT NULL,
  priority       INTEGER  NOT NULL,
  queued_at      BIGINT   NOT NULL,
  parent_id      TEXT     COLLATE "C",
  parent_call_id TEXT     COLLATE "C",
  detached       SMALLINT NOT NULL,
  depth          INTEGER  NOT NULL,
  forked_from    TEXT     COLLATE "C",
  created_at     BIGINT   NOT NULL,
  started_at     BIGINT,
  finished_at    BIGINT,
  updated_at     BIGINT   NOT NULL,
  input          TEXT     COLLATE "C",    -- NULL: null. A long one lies apart by itself (TOAST).
  output         TEXT     COLLATE "C"     -- NULL: null
) WITH (
  fillfactor = 80,
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_threshold = 1000,
  autovacuum_analyze_scale_factor = 0.05
);

-- Partial, so that finished rows cost the live path nothing. The queries repeat these conditions.
CREATE INDEX executions_queued ON executions (priority DESC, queued_at, execution_id)
  WHERE session IS NULL AND version IS NOT NULL AND state IN ('CREATED', 'RESUMING', 'CANCELLING');
CREATE INDEX executions_owned ON executions (session) WHERE session IS NOT NULL;
-- The timers of a server. Local rows (no version) are woken by their own process.
CREATE INDEX executions_due ON executions (wake_at, execution_id)
  WHERE wake_at IS NOT NULL AND version IS NOT NULL;
CREATE INDEX executions_children ON executions (parent_id, execution_id)
  WHERE parent_id IS NOT NULL;
-- Ids are UUIDv7: in each list their order is that of creation.
CREATE INDEX executions_workflow ON executions (namespace, workflow, execution_id);

-- The log. One row holds all events that one commit added to an execution: seq is the first one's.
CREATE TABLE segments (
  execution_id TEXT    COLLATE "C" NOT NULL,
  seq          INTEGER NOT NULL,
  last_seq     INTEGER NOT NULL,
  recorded_at  BIGINT  NOT NULL,
  events       TEXT    COLLATE "C" NOT NULL,
  PRIMARY KEY (execution_id, seq)
);

CREATE TABLE modules (
  hash   TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  bundle TEXT COLLATE "C" NOT NULL
);

-- The source files of a registration, once per content.
CREATE TABLE file_sets (
  hash  TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  files TEXT COLLATE "C" NOT NULL
);

CREATE TABLE workflow_versions (
  namespace     TEXT    COLLATE "C" NOT NULL,
  name          TEXT    COLLATE "C" NOT NULL,
  version       INTEGER NOT NULL,
  extracted     TEXT    COLLATE "C" NOT NULL,
  content_hash  TEXT    COLLATE "C" NOT NULL,
  source_hash   TEXT    COLLATE "C" NOT NULL,
  module_hash   TEXT    COLLATE "C" NOT NULL REFERENCES modules (hash),
  file_set_hash TEXT    COLLATE "C" NOT NULL REFERENCES file_sets (hash),
  created_at    BIGINT  NOT NULL,
  created_by    TEXT    COLLATE "C",
  deleted_at    BIGINT,                   -- NULL: it lives. Executions pinned to a deleted one go on.
  PRIMARY KEY (namespace, name, version)
);

CREATE TABLE sessions (
  session_id     TEXT    COLLATE "C" NOT NULL PRIMARY KEY,
  token_hash     TEXT    COLLATE "C" NOT NULL,
  worker         TEXT    COLLATE "C" NOT NULL,
  instance_id    TEXT    COLLATE "C" NOT NULL,
  host           TEXT    COLLATE "C" NOT NULL,
  pid            BIGINT  NOT NULL,
  labels         TEXT    COLLATE "C" NOT NULL,
  slots          INTEGER NOT NULL,
  runners        TEXT    COLLATE "C" NOT NULL,
  default_runner TEXT    COLLATE "C" NOT NULL,
  created_at     BIGINT  NOT NULL,
  last_seen_at   BIGINT  NOT NULL,
  ended_at       BIGINT,
  end_reason     TEXT    COLLATE "C"
) WITH (fillfactor = 80);

-- A worker name has one live session at most (WRK-4).
CREATE UNIQUE INDEX sessions_live ON sessions (worker) WHERE ended_at IS NULL;
CREATE INDEX sessions_secret ON sessions (worker, token_hash);

-- Outputs of tasks with `cache`, for all workers. A later output of the same key takes the place
-- of an earlier one.
CREATE TABLE task_cache (
  namespace  TEXT   COLLATE "C" NOT NULL,
  task       TEXT   COLLATE "C" NOT NULL,
  version    TEXT   COLLATE "C" NOT NULL,
  digest     TEXT   COLLATE "C" NOT NULL,
  expires_at BIGINT NOT NULL,
  text       TEXT   COLLATE "C" NOT NULL,
  PRIMARY KEY (namespace, task, version, digest)
);

CREATE INDEX task_cache_expiry ON task_cache (expires_at);
