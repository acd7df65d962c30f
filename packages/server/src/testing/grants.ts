import type { Rights, Seen } from "@engine/http";

/**
 * Rights by grants as AUTH-26 reads them, as plain as can be: `*` is any segment, and at the end of a
 * grant whatever follows.
 */
export function grantsOf(grants: readonly string[]): Rights {
  return {
    holds: (permission) => grants.some((grant) => seenThrough(grant, permission) !== undefined),
    seenBy: (permission) =>
      grants.map((grant) => seenThrough(grant, permission)).filter((seen) => seen !== undefined),
  };
}

/** What a grant leaves of a permission's placeholders; undefined where it does not concern it. */
function seenThrough(grant: string, permission: string): Seen | undefined {
  const seen: Record<string, string> = {};
  const held = grant.split(":");
  const needed = permission.split(":");
  for (const [i, segment] of needed.entries()) {
    const given = held[i] ?? (held.at(-1) === "*" ? "*" : undefined);
    const placeholder = /^\{(\w+)\}$/.exec(segment)?.[1];
    if (given === undefined) return undefined;
    if (given === "*") continue;
    if (placeholder !== undefined) seen[placeholder] = given;
    else if (given !== segment) return undefined;
  }
  return held.length <= needed.length || held.length === 1 ? seen : undefined;
}
