-- Outputs of tasks with `cache`, for all workers. A later output of the same key takes the place
-- of an earlier one.
CREATE TABLE task_cache (
  namespace  TEXT    NOT NULL,
  task       TEXT    NOT NULL,
  version    TEXT    NOT NULL,
  digest     TEXT    NOT NULL,
  expires_at INTEGER NOT NULL,
  text       TEXT    NOT NULL,
  PRIMARY KEY (namespace, task, version, digest)
) STRICT;

CREATE INDEX task_cache_expiry ON task_cache (expires_at);
