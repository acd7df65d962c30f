-- A write that moves no key of an index stays on its page and touches no index, if the page has room.
-- An index that asks for the state kept every change of state from that: now the queue's asks for a
-- column that stays the same from the claim to the end. Half a page is left for the later versions of
-- its rows, which take each other's place.
ALTER TABLE executions ADD COLUMN is_queued BOOLEAN NOT NULL GENERATED ALWAYS AS (
  session IS NULL AND version IS NOT NULL AND not_before IS NULL
  AND state IN ('CREATED', 'RESUMING', 'CANCELLING')
) STORED;

DROP INDEX executions_queued;
CREATE INDEX executions_queued ON executions (priority DESC, queued_at, execution_id)
  WHERE is_queued;

ALTER TABLE executions SET (fillfactor = 50);
