import type { Evidence } from "../evidence.ts";
import { callsOf, fieldsOf, type RecordedCall } from "./recorded-calls.ts";
import type { Violation } from "./violation.ts";

/**
 * I8: no record is used for another call. The programs never diverge from their logs, so that a
 * divergence found, and two calls under one id, are both somebody's mistake.
 */
export function noDivergence(evidence: Evidence): readonly Violation[] {
  const entries = Map.groupBy(evidence.bodies, ({ execution_id }) => execution_id);
  return evidence.executions.flatMap((execution) => {
    const { execution_id, failure } = execution.row;
    const calls = callsOf(execution);
    const messages: string[] = [];
    if (failure?.type === "NondeterminismError") messages.push(`it diverged: ${failure.message}`);
    for (const call of calls.values()) messages.push(...mixed(call));
    for (const { task_call_id, task, path } of entries.get(execution_id) ?? []) {
      const call = calls.get(task_call_id);
      if (!call) continue;
      if (call.name !== task) {
        messages.push(`${task_call_id} is a ${call.name} in the log, and ran as ${task}`);
      }
      const recorded = call.start && fieldsOf(call.start)["path"];
      if (recorded !== undefined && recorded !== path) {
        messages.push(
          `${task_call_id} is that at ${String(recorded)} in the log, and ran for ${path}`,
        );
      }
    }
    messages.push(...twiceAt(calls));
    return messages.map((message) => ({ invariant: "I8" as const, execution_id, message }));
  });
}

function mixed({ task_call_id, name, kind, events }: RecordedCall): string[] {
  const other = events.find((event) => event.name !== name || event.kind !== kind);
  if (!other) return [];
  return [
    `${task_call_id} is ${name} (${kind}) and, at event ${other.seq}, ${other.name} (${other.kind})`,
  ];
}

/** Every place of a program makes one call at most. */
function twiceAt(calls: ReadonlyMap<string, RecordedCall>): string[] {
  const places = new Map<string, string>();
  return [...calls.values()].flatMap(({ task_call_id, kind, start }) => {
    const path = start && kind === null ? fieldsOf(start)["path"] : undefined;
    if (typeof path !== "string") return [];
    const other = places.get(path);
    places.set(path, task_call_id);
    return other === undefined ? [] : [`${other} and ${task_call_id} are both the call at ${path}`];
  });
}
