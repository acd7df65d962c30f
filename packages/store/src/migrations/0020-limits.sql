-- Flow control: what operators allow under a name, who has a place under a limit, and what began lately.
-- A bucket is a limit with the value of its key. Instants are milliseconds since 1970.
-- sqlite
CREATE TABLE limits (
  name           TEXT    NOT NULL PRIMARY KEY,
  concurrency    INTEGER,               -- NULL: any number
  rate_count     INTEGER,               -- NULL, like the period: at any rate
  rate_period_ms INTEGER,
  created_at     INTEGER NOT NULL,
  updated_at     INTEGER NOT NULL
) STRICT;

-- A row counts while its execution has that generation and an owner; without one, until it has ended.
CREATE TABLE limit_holders (
  bucket       TEXT    NOT NULL,
  execution_id TEXT    NOT NULL,
  generation   INTEGER,
  claimed_at   INTEGER NOT NULL,
  PRIMARY KEY (bucket, execution_id)
) STRICT;
CREATE INDEX limit_holders_execution ON limit_holders (execution_id);

-- First claims, as long as one of their limits looks back.
CREATE TABLE limit_starts (
  bucket       TEXT    NOT NULL,
  started_at   INTEGER NOT NULL,
  execution_id TEXT    NOT NULL,
  expires_at   INTEGER NOT NULL,
  PRIMARY KEY (bucket, started_at, execution_id)
) STRICT;
CREATE INDEX limit_starts_expired ON limit_starts (expires_at);
-- postgres
CREATE TABLE limits (
  name           TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  concurrency    INTEGER,                  -- NULL: any number
  rate_count     INTEGER,                  -- NULL, like the period: at any rate
  rate_period_ms BIGINT,
  created_at     BIGINT           NOT NULL,
  updated_at     BIGINT           NOT NULL
);

-- A row counts while its execution has that generation and an owner; without one, until it has ended.
CREATE TABLE limit_holders (
  bucket       TEXT COLLATE "C" NOT NULL,
  execution_id TEXT COLLATE "C" NOT NULL,
  generation   INTEGER,
  claimed_at   BIGINT           NOT NULL,
  PRIMARY KEY (bucket, execution_id)
);
CREATE INDEX limit_holders_execution ON limit_holders (execution_id);

-- First claims, as long as one of their limits looks back.
CREATE TABLE limit_starts (
  bucket       TEXT COLLATE "C" NOT NULL,
  started_at   BIGINT           NOT NULL,
  execution_id TEXT COLLATE "C" NOT NULL,
  expires_at   BIGINT           NOT NULL,
  PRIMARY KEY (bucket, started_at, execution_id)
);
CREATE INDEX limit_starts_expired ON limit_starts (expires_at);
