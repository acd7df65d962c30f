/** A copy that is kept, before the value itself is changed. */
export function copyOf<Value>(value: Value): Value {
  return structuredClone(value);
}

/** Changes all of a value, as code does that takes what it was given for its own; careful code does not. */
export function spoil(value: unknown, careful?: true): void {
  if (careful) return;
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return;
  if (value instanceof Date) value.setTime(0);
  else if (value instanceof Map || value instanceof Set) {
    for (const item of value.values()) spoil(item);
    value.clear();
  } else if (Array.isArray(value)) {
    for (const item of value) spoil(item);
    value.length = 0;
  } else spoilRecord(value as Record<string, unknown>);
}

function spoilRecord(value: Record<string, unknown>): void {
  for (const key of Object.keys(value)) {
    spoil(value[key]);
    delete value[key];
  }
  value["spoiled"] = true;
}
