/** Which requests about a hook need the right to be its account (HOOK-40). */
import { type routes, sameSelectors } from "@engine/contract";
import type { HookChange, HookRow } from "@engine/store";

type Action = keyof typeof routes.hooks;
type Field = keyof HookChange;

/** `raised`: where the value becomes true. */
type Need = "always" | "never" | "raised";

/**
 * Whoever can cause an execution to run as the account needs `principal:<subject>:impersonate`: for the
 * account that the hook has after the request. An update needs it by what it changes.
 */
export const IMPERSONATION: Readonly<Record<Exclude<Action, "update">, Need>> & {
  readonly update: Readonly<Record<Field, Need>>;
} = {
  create: "always",
  update: {
    principal: "always",
    workflow: "always",
    selectors: "always",
    enabled: "raised",
    max_attempts: "never",
  },
  test: "always",
  retry: "always",
  retryMany: "always",
  get: "never",
  list: "never",
  deliveries: "never",
  delivery: "never",
  delete: "never",
};

/**
 * Of what an update sends, what would be another value. Lists of selectors are the same in any order: what
 * a hook has already changes nothing and is not checked again (HOOK-41).
 */
export function changesIn(row: HookRow, sent: HookChange): HookChange {
  const changed = Object.entries(sent).filter(([field, value]) => {
    if (value === undefined) return false;
    if (field === "selectors") return !sameSelectors(row.selectors, sent.selectors ?? []);
    return row[field as Field] !== value;
  });
  return Object.fromEntries(changed);
}

/**
 * The account that a caller has to be allowed to be; null: none. One change that needs it makes all of
 * the request need it (HOOK-41).
 *
 * @param changes As {@link changesIn} gives them.
 */
export function impersonated(row: HookRow, changes: HookChange): string | null {
  const fields = Object.keys(changes) as Field[];
  const isNeeded = fields.some((field) => {
    const need = IMPERSONATION.update[field];
    return need === "always" || (need === "raised" && changes[field] === true);
  });
  return isNeeded ? (changes.principal ?? row.principal) : null;
}
