-- Who may do what: principals with their roles and keys, for whom executions run, and what was changed
-- by whom. Instants are milliseconds since 1970, booleans 0 and 1; lists and records are JSON.
-- sqlite
CREATE TABLE executions_owned_by (
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
  input_apart        INTEGER NOT NULL,   -- 1: the input is in execution_inputs
  -- Last, so that reading the columns before them does not load their overflow pages.
  input              TEXT,               -- NULL: null, or apart
  output             TEXT                -- NULL: null
) STRICT;

INSERT INTO executions_owned_by (
  execution_id, namespace, workflow, version, module_hash, name, state, failure, worker,
  session, last_worker, last_session, generation, head, last_time, resuming, waits, signals,
  watchers, wake_at, timeout_ms, cancelling, seed, transient, requirements, losses,
  outcome_generation, not_before, park_ttl_ms, park_by, unique_key, request_hash, schedule,
  scheduled_for, priority, queued_at, parent_id, parent_call_id, detached, depth, forked_from,
  created_at, started_at, finished_at, updated_at, input_apart, input, output)
SELECT
  execution_id, namespace, workflow, version, module_hash, name, state, failure, worker,
  session, last_worker, last_session, generation, head, last_time, resuming, waits, signals,
  watchers, wake_at, timeout_ms, cancelling, seed, transient, requirements, losses,
  outcome_generation, not_before, park_ttl_ms, park_by, unique_key, request_hash, schedule,
  scheduled_for, priority, queued_at, parent_id, parent_call_id, detached, depth, forked_from,
  created_at, started_at, finished_at, updated_at, input_apart, input, output
FROM executions ORDER BY rowid;

DROP TABLE executions;
ALTER TABLE executions_owned_by RENAME TO executions;

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


CREATE TABLE principals (
  id           TEXT NOT NULL PRIMARY KEY,
  type         TEXT NOT NULL,
  subject      TEXT NOT NULL,
  issuer       TEXT NOT NULL,
  display_name TEXT,
  enabled      INTEGER NOT NULL,
  banned       INTEGER NOT NULL,
  ban_reason   TEXT,
  created_at   INTEGER NOT NULL,
  updated_at   INTEGER NOT NULL,
  last_seen_at INTEGER,
  deleted_at   INTEGER               -- executions and events name principals that are gone
) STRICT;
CREATE UNIQUE INDEX principals_subject ON principals (subject, issuer) WHERE deleted_at IS NULL;

CREATE TABLE principal_roles (
  principal_id TEXT NOT NULL,
  role         TEXT NOT NULL,
  source       TEXT NOT NULL,   -- engine: granted here; oidc: by claims of the last login
  PRIMARY KEY (principal_id, role, source)
) STRICT;
CREATE INDEX principal_roles_role ON principal_roles (role);

-- The engine's own roles are not stored.
CREATE TABLE roles (
  name        TEXT NOT NULL PRIMARY KEY,
  description TEXT,
  permissions TEXT NOT NULL,
  created_at  INTEGER NOT NULL,
  updated_at  INTEGER NOT NULL
) STRICT;

CREATE TABLE api_keys (
  id           TEXT NOT NULL PRIMARY KEY,
  principal_id TEXT NOT NULL,
  name         TEXT NOT NULL,
  secret_hash  TEXT NOT NULL,
  permissions  TEXT,            -- NULL: all that its principal has
  created_at   INTEGER NOT NULL,
  expires_at   INTEGER,            -- NULL: never
  last_used_at INTEGER
) STRICT;
CREATE UNIQUE INDEX api_keys_name ON api_keys (principal_id, name);

-- One row. A number grows whenever what it stands for is changed: whoever keeps a copy compares.
CREATE TABLE epochs (
  identity INTEGER NOT NULL,
  masks    INTEGER NOT NULL,
  services INTEGER NOT NULL,
  catalog  INTEGER NOT NULL
) STRICT;
INSERT INTO epochs (identity, masks, services, catalog) VALUES (0, 0, 0, 0);

CREATE TABLE audit (
  id        TEXT NOT NULL PRIMARY KEY,
  at        INTEGER NOT NULL,
  actor     TEXT,               -- the subject
  action    TEXT NOT NULL,
  target    TEXT,
  decision  TEXT NOT NULL,
  -- Equal refusals of one minute have the same, and one row.
  merge_key TEXT,
  count     INTEGER NOT NULL,
  record    TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX audit_merged ON audit (merge_key) WHERE merge_key IS NOT NULL;
CREATE INDEX audit_at ON audit (at, id);
-- postgres
ALTER TABLE executions
  ADD COLUMN started_by TEXT COLLATE "C",
  ADD COLUMN run_as TEXT COLLATE "C";
-- Whose executions have not ended; without authorization nobody's.
CREATE INDEX executions_run_as ON executions (run_as, execution_id) WHERE finished_at IS NULL;

CREATE TABLE principals (
  id           TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  type         TEXT COLLATE "C" NOT NULL,
  subject      TEXT COLLATE "C" NOT NULL,
  issuer       TEXT COLLATE "C" NOT NULL,
  display_name TEXT COLLATE "C",
  enabled      SMALLINT NOT NULL,
  banned       SMALLINT NOT NULL,
  ban_reason   TEXT COLLATE "C",
  created_at   BIGINT NOT NULL,
  updated_at   BIGINT NOT NULL,
  last_seen_at BIGINT,
  deleted_at   BIGINT               -- executions and events name principals that are gone
);
CREATE UNIQUE INDEX principals_subject ON principals (subject, issuer) WHERE deleted_at IS NULL;

CREATE TABLE principal_roles (
  principal_id TEXT COLLATE "C" NOT NULL,
  role         TEXT COLLATE "C" NOT NULL,
  source       TEXT COLLATE "C" NOT NULL,   -- engine: granted here; oidc: by claims of the last login
  PRIMARY KEY (principal_id, role, source)
);
CREATE INDEX principal_roles_role ON principal_roles (role);

-- The engine's own roles are not stored.
CREATE TABLE roles (
  name        TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  description TEXT COLLATE "C",
  permissions TEXT COLLATE "C" NOT NULL,
  created_at  BIGINT NOT NULL,
  updated_at  BIGINT NOT NULL
);

CREATE TABLE api_keys (
  id           TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  principal_id TEXT COLLATE "C" NOT NULL,
  name         TEXT COLLATE "C" NOT NULL,
  secret_hash  TEXT COLLATE "C" NOT NULL,
  permissions  TEXT COLLATE "C",            -- NULL: all that its principal has
  created_at   BIGINT NOT NULL,
  expires_at   BIGINT,            -- NULL: never
  last_used_at BIGINT
);
CREATE UNIQUE INDEX api_keys_name ON api_keys (principal_id, name);

-- One row. A number grows whenever what it stands for is changed: whoever keeps a copy compares.
CREATE TABLE epochs (
  identity BIGINT NOT NULL,
  masks    BIGINT NOT NULL,
  services BIGINT NOT NULL,
  catalog  BIGINT NOT NULL
);
INSERT INTO epochs (identity, masks, services, catalog) VALUES (0, 0, 0, 0);

CREATE TABLE audit (
  id        TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  at        BIGINT NOT NULL,
  actor     TEXT COLLATE "C",               -- the subject
  action    TEXT COLLATE "C" NOT NULL,
  target    TEXT COLLATE "C",
  decision  TEXT COLLATE "C" NOT NULL,
  -- Equal refusals of one minute have the same, and one row.
  merge_key TEXT COLLATE "C",
  count     BIGINT NOT NULL,
  record    TEXT COLLATE "C" NOT NULL
);
CREATE UNIQUE INDEX audit_merged ON audit (merge_key) WHERE merge_key IS NOT NULL;
CREATE INDEX audit_at ON audit (at, id);
