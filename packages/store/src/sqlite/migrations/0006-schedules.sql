-- What the engine starts by itself. A row is its record; the columns beside it are what it is found
-- by, and repeat what the record says.
CREATE TABLE schedules (
  name      TEXT    NOT NULL PRIMARY KEY,
  namespace TEXT    NOT NULL,
  workflow  TEXT    NOT NULL,
  status    TEXT    NOT NULL,
  source    TEXT    NOT NULL,
  due_at    INTEGER,              -- NULL: never, as while it is paused
  record    TEXT    NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX schedules_due ON schedules (due_at, name) WHERE due_at IS NOT NULL;
CREATE INDEX schedules_workflow ON schedules (namespace, workflow, name);
