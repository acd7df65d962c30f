-- A signal that nobody has taken yet has a row of its own: keeping one, or taking one, costs the same
-- whatever the number of the others. The execution's row keeps their number.
CREATE TABLE kept_signals (
  execution_id TEXT    NOT NULL,
  seq          INTEGER NOT NULL,          -- that of its event; of those kept before, their order
  name         TEXT    NOT NULL,
  payload      TEXT    NOT NULL,
  PRIMARY KEY (execution_id, name, seq)
) STRICT;

INSERT INTO kept_signals (execution_id, seq, name, payload)
SELECT e.execution_id, s.key + 1, s.value ->> '$.name', coalesce(s.value -> '$.payload', 'null')
FROM executions AS e, json_each(e.signals) AS s WHERE e.signals IS NOT NULL;

UPDATE executions SET signals = (
  SELECT json_object(
    'count', count(*),
    'bytes', sum(length(CAST(k.payload AS BLOB))),
    'names', json((
      SELECT json_group_array(json_object('name', name, 'count', number)) FROM (
        SELECT name, count(*) AS number FROM kept_signals
        WHERE execution_id = executions.execution_id GROUP BY name ORDER BY min(seq) LIMIT 20)))
  ) FROM kept_signals AS k WHERE k.execution_id = executions.execution_id
) WHERE signals IS NOT NULL;
