-- Runs of a schedule that have not ended, among however many that have.
CREATE INDEX executions_schedule_open ON executions (schedule, execution_id)
  WHERE schedule IS NOT NULL AND finished_at IS NULL;
