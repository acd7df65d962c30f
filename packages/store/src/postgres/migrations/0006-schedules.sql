-- What the engine starts by itself. A row is its record; the columns beside it are what it is found
-- by, and repeat what the record says.
CREATE TABLE schedules (
  name      TEXT   COLLATE "C" NOT NULL PRIMARY KEY,
  namespace TEXT   COLLATE "C" NOT NULL,
  workflow  TEXT   COLLATE "C" NOT NULL,
  status    TEXT   COLLATE "C" NOT NULL,
  source    TEXT   COLLATE "C" NOT NULL,
  due_at    BIGINT,               -- NULL: never, as while it is paused
  record    TEXT   COLLATE "C" NOT NULL
);

CREATE INDEX schedules_due ON schedules (due_at, name) WHERE due_at IS NOT NULL;
CREATE INDEX schedules_workflow ON schedules (namespace, workflow, name);
