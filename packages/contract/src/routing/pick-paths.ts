/**
 * As much of a value as reading some paths of it takes: so that of a large input, which no server makes
 * into a value, only that much has to travel.
 */
export function pickPaths(value: unknown, paths: readonly string[]): unknown {
  const picked: Picked = Object.create(null);
  for (const path of paths) pick(value, path.split("."), picked);
  return picked;
}

type Picked = Record<string, unknown>;

function pick(from: unknown, [key, ...rest]: readonly string[], into: Picked): void {
  if (key === undefined || typeof from !== "object" || from === null || Array.isArray(from)) return;
  if (!Object.hasOwn(from, key)) return;
  const value = (from as Picked)[key];
  if (typeof value !== "object" || value === null) into[key] = value;
  else if (Array.isArray(value)) into[key] = [];
  else {
    // That it is an object is all that a path which ends here asks.
    const inner: Picked = (into[key] as Picked | undefined) ?? Object.create(null);
    into[key] = inner;
    pick(value, rest, inner);
  }
}
