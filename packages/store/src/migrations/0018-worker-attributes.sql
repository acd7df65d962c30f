-- What operators say of a worker's name. A value is JSON: text or a number. The revision counts every
-- write of both: what was judged by them holds while it is the same.
-- sqlite
ALTER TABLE workers ADD COLUMN revision INTEGER NOT NULL DEFAULT 0;

CREATE TABLE worker_metadata (
  worker TEXT NOT NULL,
  key    TEXT NOT NULL,
  value  TEXT NOT NULL,
  PRIMARY KEY (worker, key)
) STRICT, WITHOUT ROWID;

-- Granted, whether the worker offers them or not.
CREATE TABLE worker_services (
  worker  TEXT NOT NULL,
  service TEXT NOT NULL,
  PRIMARY KEY (worker, service)
) STRICT, WITHOUT ROWID;
-- postgres
ALTER TABLE workers ADD COLUMN revision INTEGER NOT NULL DEFAULT 0;

CREATE TABLE worker_metadata (
  worker TEXT COLLATE "C" NOT NULL,
  key    TEXT COLLATE "C" NOT NULL,
  value  TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (worker, key)
);

-- Granted, whether the worker offers them or not.
CREATE TABLE worker_services (
  worker  TEXT COLLATE "C" NOT NULL,
  service TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (worker, service)
);
