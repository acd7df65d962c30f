import {
  type ExtractedWorkflow,
  parseDuration,
  type Risk,
  type TaskRecord,
} from "@engine/contract";
import type { ReadOptions } from "./definition.ts";

/**
 * The options of a definition as a record holds them. They have been checked: a wrong or unreadable
 * one is an issue by now, and what is made of it here is never saved.
 */
type WorkflowValues = Pick<
  ExtractedWorkflow,
  "durability" | "timeout_seconds" | "secrets" | "configs" | "metadata"
>;

export function workflowValues(options: ReadOptions): WorkflowValues {
  const timeout = parseDuration(options.timeout);
  return {
    durability: options.durability === "transient" ? "transient" : "durable",
    timeout_seconds: timeout === undefined ? null : timeout / 1000,
    secrets: names([options.secrets]),
    configs: names([options.configs]),
    metadata: (options.metadata ?? {}) as ExtractedWorkflow["metadata"],
  };
}

const BY_RISK: readonly Risk[] = ["read", "write", "exec", "external"];

/**
 * One task for all its copies, on the side of caution: what any of them may do counts, an exemption
 * only when all have it.
 *
 * @param variants The options of the task, and those of each copy whole.
 */
export function taskValues(
  variants: readonly ReadOptions[],
): Omit<TaskRecord, "name" | "description"> {
  const risks = variants.map(({ risk = "write" }) => BY_RISK.indexOf(risk as Risk));
  return {
    auth_exempt: variants.every(({ authExempt }) => authExempt === true),
    risk: BY_RISK[Math.max(...risks)] ?? "write",
    sensitive: variants.some(({ sensitive }) => sensitive === true),
    secrets: names(variants.map(({ secrets }) => secrets)),
    configs: names(variants.map(({ configs }) => configs)),
  };
}

function names(lists: readonly unknown[]): string[] {
  const all = lists.flatMap((list) => (Array.isArray(list) ? (list as unknown[]) : []));
  return [...new Set(all.filter((name) => typeof name === "string"))];
}
