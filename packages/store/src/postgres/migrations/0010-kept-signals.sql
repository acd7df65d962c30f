-- A signal that nobody has taken yet has a row of its own: keeping one, or taking one, costs the same
-- whatever the number of the others. The execution's row keeps their number.
CREATE TABLE kept_signals (
  execution_id TEXT    COLLATE "C" NOT NULL,
  seq          INTEGER NOT NULL,          -- that of its event; of those kept before, their order
  name         TEXT    COLLATE "C" NOT NULL,
  payload      TEXT    COLLATE "C" NOT NULL,
  PRIMARY KEY (execution_id, name, seq)
);

INSERT INTO kept_signals (execution_id, seq, name, payload)
SELECT e.execution_id, s.place, s.value ->> 'name', coalesce((s.value -> 'payload')::text, 'null')
FROM executions AS e, json_array_elements(e.signals::json) WITH ORDINALITY AS s (value, place)
WHERE e.signals IS NOT NULL;

UPDATE executions AS e SET signals = (
  SELECT json_build_object(
    'count', count(*),
    'bytes', sum(octet_length(k.payload)),
    'names', (
      SELECT json_agg(json_build_object('name', named.name, 'count', named.number) ORDER BY named.first) FROM (
        SELECT name, count(*) AS number, min(seq) AS first FROM kept_signals
        WHERE execution_id = e.execution_id GROUP BY name ORDER BY min(seq) LIMIT 20) AS named)
  )::text FROM kept_signals AS k WHERE k.execution_id = e.execution_id
) WHERE e.signals IS NOT NULL;
