-- A deleted version keeps its row, since executions that are pinned to it go on; NULL: it lives.
ALTER TABLE workflow_versions ADD COLUMN deleted_at INTEGER;
