import { isDeepStrictEqual } from "node:util";
import type { Entry, Evidence, ExecutionSeen, Violation } from "../evidence.ts";
import { lostWithItsWorker } from "./excuses.ts";
import { callsOf, copiedUpTo, fieldsOf, type LoggedCall } from "./logged-calls.ts";

/**
 * I9: what a task was told by its body (clocks, chance, labels, what the body had been given until
 * then) is what the final log says, and what the body says when that log is replayed.
 */
export function toldWhatLasts(evidence: Evidence): readonly Violation[] {
  const entries = Map.groupBy(evidence.entries, ({ execution_id }) => execution_id);
  return evidence.executions.flatMap((execution) => {
    const { execution_id } = execution;
    const own = entries.get(execution_id) ?? [];
    const messages = new Set([
      ...own.flatMap((entry) => lost(entry, execution, evidence)),
      ...changedInputs(own),
    ]);
    return [...messages].map((message) => ({ judge: "told what lasts", execution_id, message }));
  });
}

function lost(entry: Entry, execution: ExecutionSeen, evidence: Evidence): string[] {
  const { history, replay } = execution;
  const { task_call_id, path, told } = entry;
  const call = callsOf(history).get(task_call_id);
  const what = `${entry.part} of ${task_call_id} (${path}), attempt ${entry.attempt},`;
  if (!call?.start) {
    if (lostWithItsWorker(entry, execution, evidence)) return [];
    return [`${what} was entered, and the log does not hold the call`];
  }
  if (told === null) return [];
  const recorded = fieldsOf(call.start)["told"];
  const inLog = isDeepStrictEqual(recorded, told)
    ? []
    : [`${what} was told ${show(told)}; the log says ${show(recorded)}`];
  // What the body of a fork tells of what was copied is what its source told.
  if (isCopied(call, copiedUpTo(history)) || replay.result === "crashed") return inLog;
  const again = replay.told[path];
  if (again === undefined) {
    if (replay.result !== "ok") return inLog;
    return [...inLog, `${what} was told ${show(told)}; a replay of the log does not come to it`];
  }
  if (isDeepStrictEqual(again, told)) return inLog;
  return [...inLog, `${what} was told ${show(told)}; a replay of the log says ${show(again)}`];
}

function isCopied({ start }: LoggedCall, copied: number): boolean {
  return (start?.seq ?? 0) <= copied;
}

/** Schemas make up parts of an input: every function that runs for a call has to get the same. */
function changedInputs(entries: readonly Entry[]): string[] {
  const calls = Map.groupBy(entries, ({ task_call_id }) => task_call_id);
  return [...calls].flatMap(([call, own]) => {
    const inputs = new Set(own.map(({ input }) => input));
    if (inputs.size <= 1) return [];
    return [`functions of ${call} got ${inputs.size} different inputs: ${[...inputs].join(", ")}`];
  });
}

function show(value: unknown): string {
  return JSON.stringify(value) ?? "nothing";
}
