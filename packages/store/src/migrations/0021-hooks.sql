-- Hooks, the outbox of their deliveries, and which hook is behind an execution. Lists are JSON, instants
-- milliseconds since 1970, booleans 0 and 1.
-- sqlite
CREATE TABLE hooks (
  name            TEXT    NOT NULL PRIMARY KEY,
  id              TEXT    NOT NULL,
  enabled         INTEGER NOT NULL,
  selectors       TEXT    NOT NULL,
  workflow        TEXT    NOT NULL,   -- <namespace>/<name>
  principal       TEXT    NOT NULL,
  max_attempts    INTEGER NOT NULL,
  owner_type      TEXT    NOT NULL,
  owner_ref       TEXT,
  created_at      INTEGER NOT NULL,
  created_by      TEXT,
  updated_at      INTEGER NOT NULL,
  updated_by      TEXT,
  revision        INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX hooks_id ON hooks (id);
CREATE INDEX hooks_owner ON hooks (owner_type, owner_ref);

-- Nothing ties a delivery to its source: the row holds all that it needs. Its id is unique by itself; with
-- the hook before it the key is also the order of a hook's list, and an event writes one index less.
CREATE TABLE hook_deliveries (
  id              TEXT    NOT NULL,
  hook_id         TEXT    NOT NULL,
  hook            TEXT    NOT NULL,   -- its name
  event_key       TEXT    NOT NULL,   -- <execution_id>:<seq>
  status          TEXT    NOT NULL,
  attempts        INTEGER NOT NULL,
  hop             INTEGER NOT NULL,
  selector        TEXT    NOT NULL,
  event_type      TEXT    NOT NULL,
  source_workflow TEXT    NOT NULL,
  execution_id    TEXT,               -- the one that it started
  error           TEXT,
  dead_reason     TEXT,
  due_at          INTEGER NOT NULL,   -- 0: at once, or it is settled
  created_at      INTEGER NOT NULL,
  settled_at      INTEGER,
  envelope        TEXT    NOT NULL,
  PRIMARY KEY (hook_id, id)
) STRICT;
CREATE UNIQUE INDEX hook_deliveries_event ON hook_deliveries (hook_id, event_key);
-- Those of a hook that are due come first, in their order, however many wait.
CREATE INDEX hook_deliveries_pending ON hook_deliveries (hook_id, due_at, id)
  WHERE status = 'pending';
CREATE INDEX hook_deliveries_dead ON hook_deliveries (hook_id, id) WHERE status = 'dead';
CREATE INDEX hook_deliveries_delivered ON hook_deliveries (hook_id, settled_at)
  WHERE status = 'delivered';
CREATE INDEX hook_deliveries_settled ON hook_deliveries (settled_at) WHERE settled_at IS NOT NULL;

ALTER TABLE epochs ADD COLUMN hooks INTEGER NOT NULL DEFAULT 0;

-- Made anew: a column that is added comes last, behind the values.
CREATE TABLE executions_hooked (
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
  hook_name          TEXT,               -- like the next, of the hook behind it
  hook_delivery_id   TEXT,
  hook_hop           INTEGER,            -- NULL: no hook is
  input_apart        INTEGER NOT NULL,   -- 1: the input is in execution_inputs
  -- Last, so that reading the columns before them does not load their overflow pages.
  input              TEXT,               -- NULL: null, or apart
  output             TEXT                -- NULL: null
) STRICT;

INSERT INTO executions_hooked (
  execution_id, namespace, workflow, version, module_hash, name, state, failure, worker,
  session, last_worker, last_session, generation, head, last_time, resuming, waits, signals,
  watchers, wake_at, timeout_ms, cancelling, seed, transient, requirements, losses,
  outcome_generation, not_before, park_ttl_ms, park_by, unique_key, request_hash, schedule,
  scheduled_for, priority, queued_at, parent_id, parent_call_id, detached, depth, forked_from,
  created_at, started_at, finished_at, updated_at, started_by, run_as, routing_input,
  input_apart, input, output)
SELECT
  execution_id, namespace, workflow, version, module_hash, name, state, failure, worker,
  session, last_worker, last_session, generation, head, last_time, resuming, waits, signals,
  watchers, wake_at, timeout_ms, cancelling, seed, transient, requirements, losses,
  outcome_generation, not_before, park_ttl_ms, park_by, unique_key, request_hash, schedule,
  scheduled_for, priority, queued_at, parent_id, parent_call_id, detached, depth, forked_from,
  created_at, started_at, finished_at, updated_at, started_by, run_as, routing_input,
  input_apart, input, output
FROM executions ORDER BY rowid;

DROP TABLE executions;
ALTER TABLE executions_hooked RENAME TO executions;

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
CREATE TABLE hooks (
  name            TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  id              TEXT COLLATE "C" NOT NULL,
  enabled         INTEGER          NOT NULL,
  selectors       TEXT COLLATE "C" NOT NULL,
  workflow        TEXT COLLATE "C" NOT NULL,   -- <namespace>/<name>
  principal       TEXT COLLATE "C" NOT NULL,
  max_attempts    INTEGER          NOT NULL,
  owner_type      TEXT COLLATE "C" NOT NULL,
  owner_ref       TEXT COLLATE "C",
  created_at      BIGINT           NOT NULL,
  created_by      TEXT COLLATE "C",
  updated_at      BIGINT           NOT NULL,
  updated_by      TEXT COLLATE "C",
  revision        BIGINT           NOT NULL
);
CREATE UNIQUE INDEX hooks_id ON hooks (id);
CREATE INDEX hooks_owner ON hooks (owner_type, owner_ref);

-- Nothing ties a delivery to its source: the row holds all that it needs. Its id is unique by itself; with
-- the hook before it the key is also the order of a hook's list, and an event writes one index less.
CREATE TABLE hook_deliveries (
  id              TEXT COLLATE "C" NOT NULL,
  hook_id         TEXT COLLATE "C" NOT NULL,
  hook            TEXT COLLATE "C" NOT NULL,   -- its name
  event_key       TEXT COLLATE "C" NOT NULL,   -- <execution_id>:<seq>
  status          TEXT COLLATE "C" NOT NULL,
  attempts        INTEGER          NOT NULL,
  hop             INTEGER          NOT NULL,
  selector        TEXT COLLATE "C" NOT NULL,
  event_type      TEXT COLLATE "C" NOT NULL,
  source_workflow TEXT COLLATE "C" NOT NULL,
  execution_id    TEXT COLLATE "C",            -- the one that it started
  error           TEXT COLLATE "C",
  dead_reason     TEXT COLLATE "C",
  due_at          BIGINT           NOT NULL,   -- 0: at once, or it is settled
  created_at      BIGINT           NOT NULL,
  settled_at      BIGINT,
  envelope        TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (hook_id, id)
);
CREATE UNIQUE INDEX hook_deliveries_event ON hook_deliveries (hook_id, event_key);
-- Those of a hook that are due come first, in their order, however many wait.
CREATE INDEX hook_deliveries_pending ON hook_deliveries (hook_id, due_at, id)
  WHERE status = 'pending';
CREATE INDEX hook_deliveries_dead ON hook_deliveries (hook_id, id) WHERE status = 'dead';
CREATE INDEX hook_deliveries_delivered ON hook_deliveries (hook_id, settled_at)
  WHERE status = 'delivered';
CREATE INDEX hook_deliveries_settled ON hook_deliveries (settled_at) WHERE settled_at IS NOT NULL;

ALTER TABLE epochs ADD COLUMN hooks BIGINT NOT NULL DEFAULT 0;

ALTER TABLE executions ADD COLUMN hook_name TEXT COLLATE "C";
ALTER TABLE executions ADD COLUMN hook_delivery_id TEXT COLLATE "C";
ALTER TABLE executions ADD COLUMN hook_hop INTEGER;
