import { type ExecutionRow, isTerminal } from "@engine/contract";
import type { Evidence } from "../evidence.ts";
import type { Violation } from "./violation.ts";

/** I17: once nothing is broken everything goes on to its end, or waits for somebody outside. */
export function progressToRest(evidence: Evidence): readonly Violation[] {
  const abandoned = new Set(evidence.abandoned);
  const violations = evidence.executions.flatMap(({ row }): Violation[] => {
    const { execution_id } = row;
    const message = unrest(row, abandoned.has(execution_id), evidence.ended_at);
    return message === undefined ? [] : [{ invariant: "I17", execution_id, message }];
  });
  if (evidence.stuck === null) return violations;
  const message = `the run came to no rest: ${evidence.stuck}`;
  return [{ invariant: "I17", execution_id: null, message }, ...violations];
}

function unrest(row: ExecutionRow, isAbandoned: boolean, now: number): string | undefined {
  const { state, session, worker, waits, wake_at } = row;
  if (isTerminal(state)) {
    return wake_at === null
      ? undefined
      : `it is ${state}, and a server would wake it at ${wake_at}`;
  }
  const shown = waits.map(({ kind, name }) => `${kind} ${name}`).join(", ") || "nothing";
  if (session !== null) return `it is ${state} with ${worker}, waiting for ${shown}`;
  if (!isAbandoned) return `it is ${state} and waits for ${shown}, and everybody was answered`;
  if (wake_at !== null && wake_at < now)
    return `it was to be woken at ${wake_at}, and it is ${now}`;
  return undefined;
}
