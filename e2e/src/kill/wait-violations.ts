import { type ExecutionSummary, isOutcome, type RecordedEvent } from "@engine/contract";
import type { Sent } from "./payer.ts";
import { callsOf } from "./violations.ts";

/** What is wrong with the sleeps and signals of a log that ended; empty when nothing is. */
export function waitViolations(
  log: readonly RecordedEvent[],
  sent: Sent = { acknowledged: 0, tried: 0 },
): string[] {
  const wrong: string[] = [];
  for (const [call, events] of callsOf(log)) {
    const started = events.find(({ type }) => type === "TASK_STARTED");
    const outcome = events.find(({ type }) => isOutcome(type));
    if (started?.kind !== "sleep" || !outcome) continue;
    const { until } = started.value as { until: string };
    const early = Date.parse(until) - Date.parse(outcome.recorded_at);
    if (!(early <= 0)) wrong.push(`${call}: it ended ${early} ms too early`);
  }

  const signals = log.filter(({ type }) => type === "WORKFLOW_SIGNALED").length;
  const { acknowledged, tried } = sent;
  if (signals < acknowledged) wrong.push(`${signals} signals, ${acknowledged} acknowledged`);
  if (signals > tried) wrong.push(`${signals} signals, ${tried} were sent`);
  return wrong;
}

type Relative = Pick<
  ExecutionSummary,
  "execution_id" | "workflow" | "parent_id" | "parent_call_id"
>;

/** What is wrong with parents and children: each errand has one child, of its one call. */
export function familyViolations(executions: readonly Relative[]): string[] {
  const wrong: string[] = [];
  const childrenOf = Map.groupBy(executions, ({ parent_id }) => parent_id);
  for (const { execution_id, workflow } of executions) {
    const calls = (childrenOf.get(execution_id) ?? []).map((child) => child.parent_call_id);
    const expected = workflow === "errand" ? ["call~1"] : [];
    if (calls.join() !== expected.join()) wrong.push(`${execution_id}: children of [${calls}]`);
  }
  const known = new Set(executions.map(({ execution_id }) => execution_id));
  for (const { execution_id, parent_id } of executions) {
    if (parent_id !== null && !known.has(parent_id)) wrong.push(`${execution_id}: no parent`);
  }
  return wrong;
}

/** What is wrong with what a parent was told of its child. */
export function outcomeViolations(parentLog: readonly RecordedEvent[], output: unknown): string[] {
  const told = callsOf(parentLog)
    .get("call~1")
    ?.find(({ type }) => isOutcome(type));
  if (told?.type === "TASK_COMPLETED" && told.value === output) return [];
  return [`its child gave ${output}, it was told ${told?.type} ${JSON.stringify(told?.value)}`];
}
