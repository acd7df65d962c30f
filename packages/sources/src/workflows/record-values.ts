import {
  declaredHooks,
  declaredOptions,
  type ExtractedWorkflow,
  type HookOwner,
  largestRequests,
  parseDuration,
  type Risk,
  Runner,
  type RunnerOptions,
  resourceRequests,
  type TaskRecord,
  taskRequests,
} from "@engine/contract";
import { sha256 } from "../content-hash.ts";
import type { ReadOptions } from "./definition.ts";
import { declaredSchedule } from "./schedule-option.ts";

/**
 * The options of a definition as a record holds them. They have been checked: a wrong or unreadable
 * one is an issue by now, and what is made of it here is never saved.
 */
type WorkflowValues = Pick<
  ExtractedWorkflow,
  | "durability"
  | "timeout_seconds"
  | "runner"
  | "runner_options"
  | "requests"
  | "schedule"
  | "hooks"
  | "secrets"
  | "configs"
  | "affinity"
  | "routing"
  | "limits"
  | "priority"
  | "fairness"
  | "metadata"
>;

export function workflowValues(options: ReadOptions, owner: HookOwner): WorkflowValues {
  const timeout = parseDuration(options.timeout);
  return {
    durability: options.durability === "transient" ? "transient" : "durable",
    timeout_seconds: timeout === undefined ? null : timeout / 1000,
    runner: Runner.safeParse(options.runner).data ?? null,
    runner_options: runnerOptions(options.runnerOptions),
    requests: resourceRequests(options.requests),
    schedule: declaredSchedule(options.schedule),
    hooks: declaredHooks(options.hooks, owner, sha256),
    secrets: namesIn([options.secrets]),
    configs: namesIn([options.configs]),
    ...declaredOptions(options),
    metadata: (options.metadata ?? {}) as ExtractedWorkflow["metadata"],
  };
}

function runnerOptions(value: unknown): RunnerOptions | null {
  const { memoryMb } = (value ?? {}) as { memoryMb?: unknown };
  return typeof memoryMb === "number" ? { memory_mb: memoryMb } : null;
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
    secrets: namesIn(variants.map(({ secrets }) => secrets)),
    configs: namesIn(variants.map(({ configs }) => configs)),
    requests: largestRequests(variants.map(({ requests }) => taskRequests(requests))),
  };
}

/** The texts in some lists, each once. */
export function namesIn(lists: readonly unknown[]): string[] {
  const all = lists.flatMap((list) => (Array.isArray(list) ? (list as unknown[]) : []));
  return [...new Set(all.filter((name) => typeof name === "string"))];
}
