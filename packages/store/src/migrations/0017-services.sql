-- Named choices of workflows that are offered as endpoints. Lists are JSON, instants milliseconds since
-- 1970, booleans 0 and 1.
-- sqlite
CREATE TABLE services (
  name        TEXT    NOT NULL PRIMARY KEY,
  id          TEXT    NOT NULL,
  description TEXT,
  namespaces  TEXT    NOT NULL,
  workflows   TEXT    NOT NULL,
  exclusions  TEXT    NOT NULL,
  mcp_enabled INTEGER NOT NULL,
  created_at  INTEGER NOT NULL,
  updated_at  INTEGER NOT NULL
) STRICT;
-- postgres
CREATE TABLE services (
  name        TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  id          TEXT COLLATE "C" NOT NULL,
  description TEXT COLLATE "C",
  namespaces  TEXT COLLATE "C" NOT NULL,
  workflows   TEXT COLLATE "C" NOT NULL,
  exclusions  TEXT COLLATE "C" NOT NULL,
  mcp_enabled INTEGER          NOT NULL,
  created_at  BIGINT           NOT NULL,
  updated_at  BIGINT           NOT NULL
);
