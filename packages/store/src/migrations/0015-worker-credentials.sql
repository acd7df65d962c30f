-- How workers prove who they are: their credentials, tokens for joining, and the line of each session.
-- Instants are milliseconds since 1970; of every secret the SHA-256 is kept.
-- sqlite
CREATE TABLE worker_credentials (
  id            TEXT    NOT NULL PRIMARY KEY,
  line          TEXT    NOT NULL,   -- a first one and all that it was renewed to
  generation    INTEGER NOT NULL,   -- within the line, from 1
  principal_id  TEXT    NOT NULL,
  secret_hash   TEXT    NOT NULL,
  created_at    INTEGER NOT NULL,
  expires_at    INTEGER NOT NULL,
  used_at       INTEGER,            -- NULL: not used yet
  superseded_at INTEGER,            -- first use of another one of the same generation or a later one
  revoked_at    INTEGER
) STRICT;
CREATE INDEX worker_credentials_line ON worker_credentials (line);
CREATE INDEX worker_credentials_principal ON worker_credentials (principal_id);
CREATE INDEX worker_credentials_expires ON worker_credentials (expires_at);

CREATE TABLE join_tokens (
  id          TEXT    NOT NULL PRIMARY KEY,
  secret_hash TEXT    NOT NULL,
  subject     TEXT,                 -- NULL: for any new name
  services    TEXT    NOT NULL,
  created_at  INTEGER NOT NULL,
  created_by  TEXT,                 -- a subject; NULL: nobody, as without authorization
  expires_at  INTEGER NOT NULL,
  used_at     INTEGER,
  used_by     TEXT,                 -- the worker's name
  revoked_at  INTEGER,
  refusals    INTEGER NOT NULL      -- of names that were taken
) STRICT;
CREATE INDEX join_tokens_created ON join_tokens (created_at, id);
CREATE INDEX join_tokens_expires ON join_tokens (expires_at);

-- One row, or none before the first server made one.
CREATE TABLE bootstrap_token (
  singleton   INTEGER NOT NULL PRIMARY KEY CHECK (singleton = 1),
  secret_hash TEXT    NOT NULL,
  created_at  INTEGER NOT NULL
) STRICT;

-- NULL: without authorization; 'process': the worker in the server's own process.
ALTER TABLE sessions ADD COLUMN credential_line TEXT;
CREATE INDEX sessions_credential_line ON sessions (credential_line)
  WHERE credential_line IS NOT NULL AND ended_at IS NULL;
-- postgres
CREATE TABLE worker_credentials (
  id            TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  line          TEXT COLLATE "C" NOT NULL,   -- a first one and all that it was renewed to
  generation    INTEGER          NOT NULL,   -- within the line, from 1
  principal_id  TEXT COLLATE "C" NOT NULL,
  secret_hash   TEXT COLLATE "C" NOT NULL,
  created_at    BIGINT           NOT NULL,
  expires_at    BIGINT           NOT NULL,
  used_at       BIGINT,                      -- NULL: not used yet
  superseded_at BIGINT,                      -- first use of another one of the same generation or a later one
  revoked_at    BIGINT
);
CREATE INDEX worker_credentials_line ON worker_credentials (line);
CREATE INDEX worker_credentials_principal ON worker_credentials (principal_id);
CREATE INDEX worker_credentials_expires ON worker_credentials (expires_at);

CREATE TABLE join_tokens (
  id          TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  secret_hash TEXT COLLATE "C" NOT NULL,
  subject     TEXT COLLATE "C",              -- NULL: for any new name
  services    TEXT COLLATE "C" NOT NULL,
  created_at  BIGINT           NOT NULL,
  created_by  TEXT COLLATE "C",              -- a subject; NULL: nobody, as without authorization
  expires_at  BIGINT           NOT NULL,
  used_at     BIGINT,
  used_by     TEXT COLLATE "C",              -- the worker's name
  revoked_at  BIGINT,
  refusals    INTEGER          NOT NULL      -- of names that were taken
);
CREATE INDEX join_tokens_created ON join_tokens (created_at, id);
CREATE INDEX join_tokens_expires ON join_tokens (expires_at);

-- One row, or none before the first server made one.
CREATE TABLE bootstrap_token (
  singleton   SMALLINT         NOT NULL PRIMARY KEY CHECK (singleton = 1),
  secret_hash TEXT COLLATE "C" NOT NULL,
  created_at  BIGINT           NOT NULL
);

-- NULL: without authorization; 'process': the worker in the server's own process.
ALTER TABLE sessions ADD COLUMN credential_line TEXT COLLATE "C";
CREATE INDEX sessions_credential_line ON sessions (credential_line)
  WHERE credential_line IS NOT NULL AND ended_at IS NULL;
