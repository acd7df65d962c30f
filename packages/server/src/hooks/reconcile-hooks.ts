import { type DeclaredHook, EngineError } from "@engine/contract";
import type { HookChange, HookRow } from "@engine/store";
import { changesIn } from "./impersonation.ts";

/** What makes the hooks of an owner those that it declares. */
export interface Reconciliation {
  readonly created: readonly DeclaredHook[];
  readonly changed: readonly { readonly row: HookRow; readonly change: HookChange }[];
  readonly deleted: readonly HookRow[];
}

/**
 * By name: a hook that is there stays the one it is, and enabled or not, whatever else is declared of it
 * (HOOK-49).
 *
 * @param own All that the owner has.
 * @throws EngineError `invalid_input` for two different declarations of one name.
 */
export function reconcileHooks(
  own: readonly HookRow[],
  declared: readonly DeclaredHook[],
): Reconciliation {
  const before = new Map(own.map((row) => [row.name, row]));
  const wanted = Map.groupBy(declared, ({ name }) => name);
  for (const [name, [first, ...others]] of wanted) {
    if (others.some((other) => JSON.stringify(other) !== JSON.stringify(first))) throw twice(name);
  }
  const once = [...wanted.values()].flatMap(([first]) => first ?? []);
  const changed = once.flatMap(({ name, ...hook }) => {
    const row = before.get(name);
    const change = row ? changesIn(row, hook) : {};
    return row && Object.keys(change).length > 0 ? [{ row, change }] : [];
  });
  return {
    created: once.filter(({ name }) => !before.has(name)),
    changed,
    deleted: own.filter(({ name }) => !wanted.has(name)),
  };
}

/** A name that was given may be the one that follows for a hook without any. */
function twice(name: string): EngineError {
  const message = `two different hooks that are declared have the name ${name}; rename one`;
  return new EngineError("invalid_input", message);
}
