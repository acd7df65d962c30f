-- What executions need of a worker, how often workers lost them, when they may begin at all; one
-- execution per unique key. Workers outlive their sessions; a session's stream is held by one server.

ALTER TABLE executions
  ADD COLUMN requirements       TEXT    COLLATE "C",  -- NULL: any worker may have it
  ADD COLUMN losses             TEXT    COLLATE "C",  -- NULL: none since the last outcome
  ADD COLUMN outcome_generation INTEGER NOT NULL DEFAULT 0,
  ADD COLUMN not_before         BIGINT,
  ADD COLUMN park_ttl_ms        BIGINT,
  ADD COLUMN park_by            BIGINT,
  ADD COLUMN unique_key         TEXT    COLLATE "C",
  ADD COLUMN request_hash       TEXT    COLLATE "C",
  ADD COLUMN schedule           TEXT    COLLATE "C",
  ADD COLUMN scheduled_for      BIGINT;

DROP INDEX executions_queued;
CREATE INDEX executions_queued ON executions (priority DESC, queued_at, execution_id)
  WHERE session IS NULL AND version IS NOT NULL AND not_before IS NULL
    AND state IN ('CREATED', 'RESUMING', 'CANCELLING');
CREATE UNIQUE INDEX executions_unique ON executions (unique_key) WHERE unique_key IS NOT NULL;
CREATE INDEX executions_schedule ON executions (schedule, execution_id) WHERE schedule IS NOT NULL;
-- What a fork was made from is kept as long as the fork.
CREATE INDEX executions_forks ON executions (forked_from) WHERE forked_from IS NOT NULL;

CREATE TABLE workers (
  name          TEXT   COLLATE "C" NOT NULL PRIMARY KEY,
  desired_state TEXT   COLLATE "C" NOT NULL DEFAULT 'active',
  registered_at BIGINT NOT NULL
);

INSERT INTO workers (name, registered_at) SELECT worker, min(created_at) FROM sessions GROUP BY worker;

ALTER TABLE sessions
  ADD COLUMN dispatch        TEXT COLLATE "C" NOT NULL DEFAULT 'event',
  ADD COLUMN engine_version  TEXT COLLATE "C" NOT NULL DEFAULT '',
  ADD COLUMN runtime         TEXT COLLATE "C" NOT NULL DEFAULT '{"os":"","arch":"","node":""}',
  ADD COLUMN resources       TEXT COLLATE "C",
  ADD COLUMN packages        TEXT COLLATE "C" NOT NULL DEFAULT '[]',
  ADD COLUMN services        TEXT COLLATE "C" NOT NULL DEFAULT '[]',
  ADD COLUMN replica         TEXT COLLATE "C",
  ADD COLUMN epoch           INTEGER NOT NULL DEFAULT 0,
  ADD COLUMN connected_at    BIGINT,
  ADD COLUMN disconnected_at BIGINT,
  ADD COLUMN lost_at         BIGINT;

-- Heard of often, so apart from what claims look at.
CREATE TABLE session_beats (
  session_id TEXT   COLLATE "C" NOT NULL PRIMARY KEY,
  seen_at    BIGINT NOT NULL,
  said_at    BIGINT,                      -- NULL: no heartbeat yet
  said       TEXT   COLLATE "C"
) WITH (fillfactor = 50);

CREATE INDEX sessions_ended ON sessions (ended_at) WHERE ended_at IS NOT NULL;

-- Numbers of versions whose rows are deleted: they are not used again.
CREATE TABLE retired_versions (
  namespace TEXT    COLLATE "C" NOT NULL,
  name      TEXT    COLLATE "C" NOT NULL,
  version   INTEGER NOT NULL,             -- the newest of them
  PRIMARY KEY (namespace, name)
);

-- Seen by the database's clock, which all servers share.
CREATE TABLE replicas (
  replica TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  seen_at TIMESTAMPTZ NOT NULL
) WITH (fillfactor = 50);
