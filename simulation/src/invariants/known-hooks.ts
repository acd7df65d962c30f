/** Hooks as they were when something was committed, and which events they ask for, read by hand. */
import type { Event } from "@engine/contract";
import type { HookRow } from "@engine/store";
import type { Commit, Evidence, HookWritten } from "../evidence.ts";
import { FIRST_SPAN, statesFor } from "./states.ts";

/** All that was ever written of one hook, in order. */
export type HookWrites = readonly HookWritten[];

export function hooksById({ hooks }: Pick<Evidence, "hooks">): ReadonlyMap<string, HookWrites> {
  return Map.groupBy(hooks, ({ hook_id }) => hook_id);
}

/** Whether it was deleted, and its deliveries with it. */
export function isGone(writes: HookWrites): boolean {
  return writes.at(-1)?.row === null;
}

/** As it was at some time. */
export function rowsOf(writes: HookWrites): readonly HookRow[] {
  return writes.flatMap(({ row }) => row ?? []);
}

/** What a transaction may have found of a hook; null: none. */
export function hookStates(
  commit: Pick<Commit, "span">,
  writes: HookWrites,
): readonly (HookRow | null)[] {
  const states = [{ span: FIRST_SPAN, row: null }, ...writes];
  return statesFor(commit, states).map(({ row }) => row);
}

/** The first selector of a hook that asks for an event; undefined: it is not to fire. */
export function firing(hook: HookRow | null, key: string): string | undefined {
  return hook?.enabled ? hook.selectors.find((selector) => asksFor(selector, key)) : undefined;
}

/** The key of an event, by which selectors know it (HOOK-5, HOOK-7, HOOK-8). */
export function keyOf(
  { namespace, workflow }: Pick<Commit["row"], "namespace" | "workflow">,
  { type, name }: Pick<Event, "type" | "name">,
): string {
  return type.startsWith("TASK_")
    ? `task:${namespace}:${workflow}:${name}:${segmentOf(type)}`
    : `execution:${namespace}:${workflow}:${segmentOf(type)}`;
}

export function segmentOf(type: Event["type"]): string {
  if (type === "WORKFLOW_STARTED" || type === "WORKFLOW_RESUMED") return "running";
  return type.replace(/^(WORKFLOW|TASK)_/, "").toLowerCase();
}

/** An asterisk at the end stands for whatever is left, elsewhere for one segment (HOOK-6). */
function asksFor(selector: string, key: string): boolean {
  const pattern = selector.split(":");
  const isOpen = pattern.at(-1) === "*";
  const head = isOpen ? pattern.slice(0, -1) : pattern;
  const segments = key.split(":");
  if (isOpen ? head.length > segments.length : head.length !== segments.length) return false;
  return head.every((wanted, i) => wanted === "*" || wanted === segments[i]);
}
