-- The condition of the queue's index by OR: of more than two values after IN, SQLite makes a table for
-- each row whose session is taken away, which costs a quarter of that change.
-- sqlite
DROP INDEX executions_queued;
CREATE INDEX executions_queued ON executions (priority DESC, queued_at, execution_id)
  WHERE session IS NULL AND version IS NOT NULL AND not_before IS NULL
    AND (state = 'CREATED' OR state = 'RESUMING' OR state = 'CANCELLING');
