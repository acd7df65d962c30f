-- What is kept under a key: secrets, and data keys of executions and schedules; configuration values
-- beside them. Instants are milliseconds since 1970, booleans 0 and 1; what is sealed is base64.
-- sqlite
CREATE TABLE secrets (
  name          TEXT    NOT NULL PRIMARY KEY,
  version       INTEGER NOT NULL,
  description   TEXT,
  unmasked      INTEGER NOT NULL,
  masked_values INTEGER NOT NULL,   -- how many of its values are masked in what is read
  key_id        TEXT    NOT NULL,
  wrapped       TEXT    NOT NULL,
  body          TEXT    NOT NULL,
  created_at    INTEGER NOT NULL,
  updated_at    INTEGER NOT NULL,
  updated_by    TEXT                -- a subject; NULL: nobody, as without authorization
) STRICT;

-- What secrets were before they were replaced or deleted: logs still hold it, so it stays masked.
CREATE TABLE masks (
  name       TEXT    NOT NULL,
  version    INTEGER NOT NULL,
  key_id     TEXT    NOT NULL,
  wrapped    TEXT    NOT NULL,
  body       TEXT    NOT NULL,
  retired_at INTEGER NOT NULL,
  PRIMARY KEY (name, version)
) STRICT;
CREATE INDEX masks_retired ON masks (retired_at);

CREATE TABLE configs (
  name        TEXT    NOT NULL PRIMARY KEY,
  version     INTEGER NOT NULL,
  description TEXT,
  value       TEXT    NOT NULL,     -- JSON
  created_at  INTEGER NOT NULL,
  updated_at  INTEGER NOT NULL,
  updated_by  TEXT
) STRICT;

-- A known text under each key that was ever used: a key that does not open it is another one.
CREATE TABLE key_checks (
  key_id     TEXT    NOT NULL PRIMARY KEY,
  wrapped    TEXT    NOT NULL,
  body       TEXT    NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

-- One row while data keys are wrapped anew with a key, none otherwise.
CREATE TABLE key_rotation (
  singleton    INTEGER NOT NULL PRIMARY KEY CHECK (singleton = 1),
  key_id       TEXT    NOT NULL,
  requested_at INTEGER NOT NULL
) STRICT;

CREATE TABLE execution_keys (
  execution_id TEXT    NOT NULL PRIMARY KEY,
  key_id       TEXT    NOT NULL,
  wrapped      TEXT    NOT NULL,
  created_at   INTEGER NOT NULL
) STRICT;
CREATE INDEX execution_keys_key ON execution_keys (key_id, execution_id);

-- NULL: without a routing input, or with one that was stored before there was a key.
ALTER TABLE schedules ADD COLUMN routing_key_id TEXT;
-- postgres
CREATE TABLE secrets (
  name          TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  version       BIGINT           NOT NULL,
  description   TEXT COLLATE "C",
  unmasked      SMALLINT         NOT NULL,
  masked_values BIGINT           NOT NULL,   -- how many of its values are masked in what is read
  key_id        TEXT COLLATE "C" NOT NULL,
  wrapped       TEXT COLLATE "C" NOT NULL,
  body          TEXT COLLATE "C" NOT NULL,
  created_at    BIGINT           NOT NULL,
  updated_at    BIGINT           NOT NULL,
  updated_by    TEXT COLLATE "C"             -- a subject; NULL: nobody, as without authorization
);

-- What secrets were before they were replaced or deleted: logs still hold it, so it stays masked.
CREATE TABLE masks (
  name       TEXT COLLATE "C" NOT NULL,
  version    BIGINT           NOT NULL,
  key_id     TEXT COLLATE "C" NOT NULL,
  wrapped    TEXT COLLATE "C" NOT NULL,
  body       TEXT COLLATE "C" NOT NULL,
  retired_at BIGINT           NOT NULL,
  PRIMARY KEY (name, version)
);
CREATE INDEX masks_retired ON masks (retired_at);

CREATE TABLE configs (
  name        TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  version     BIGINT           NOT NULL,
  description TEXT COLLATE "C",
  value       TEXT COLLATE "C" NOT NULL,     -- JSON
  created_at  BIGINT           NOT NULL,
  updated_at  BIGINT           NOT NULL,
  updated_by  TEXT COLLATE "C"
);

-- A known text under each key that was ever used: a key that does not open it is another one.
CREATE TABLE key_checks (
  key_id     TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  wrapped    TEXT COLLATE "C" NOT NULL,
  body       TEXT COLLATE "C" NOT NULL,
  created_at BIGINT           NOT NULL
);

-- One row while data keys are wrapped anew with a key, none otherwise.
CREATE TABLE key_rotation (
  singleton    SMALLINT         NOT NULL PRIMARY KEY CHECK (singleton = 1),
  key_id       TEXT COLLATE "C" NOT NULL,
  requested_at BIGINT           NOT NULL
);

CREATE TABLE execution_keys (
  execution_id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  key_id       TEXT COLLATE "C" NOT NULL,
  wrapped      TEXT COLLATE "C" NOT NULL,
  created_at   BIGINT           NOT NULL
);
CREATE INDEX execution_keys_key ON execution_keys (key_id, execution_id);

-- NULL: without a routing input, or with one that was stored before there was a key.
ALTER TABLE schedules ADD COLUMN routing_key_id TEXT COLLATE "C";
