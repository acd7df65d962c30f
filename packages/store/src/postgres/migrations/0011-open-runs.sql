-- Runs of a schedule that have not ended, among however many that have. The end of a run moves keys of
-- indexes anyway, since it gives the run's session back.
CREATE INDEX executions_schedule_open ON executions (schedule, execution_id)
  WHERE schedule IS NOT NULL AND finished_at IS NULL;
