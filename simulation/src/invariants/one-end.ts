import { isDeepStrictEqual } from "node:util";
import { type Encoded, type ExecutionRow, isTerminal, type State, toPlain } from "@engine/contract";
import type { Evidence, ExecutionAtRest } from "../evidence.ts";
import { type Excuse, uncounted } from "./excuses.ts";
import { commitsByExecution, storedForm } from "./recorded-calls.ts";
import type { Violation } from "./violation.ts";

const ENDS: Readonly<Partial<Record<string, State>>> = {
  WORKFLOW_COMPLETED: "COMPLETED",
  WORKFLOW_FAILED: "FAILED",
  WORKFLOW_CANCELLED: "CANCELLED",
};

/** I2: an execution ends at most once, and what it ended as never changes, whoever looks when. */
export function oneEnd(evidence: Evidence, excuse: Excuse = uncounted): readonly Violation[] {
  return [
    ...evidence.executions.flatMap((execution) => endOfLog(execution)),
    ...[...commitsByExecution(evidence)].flatMap(([execution_id, commits]) => {
      let ended: ExecutionRow | undefined;
      return commits.flatMap(({ row, events }): Violation[] => {
        const before = ended;
        if (isTerminal(row.state)) ended ??= row;
        if (!before) return [];
        const wrote = events.map(({ seq, type }) => `${seq} ${type}`).join(", ");
        const isSame = before.state === row.state && isDeepStrictEqual(before.output, row.output);
        if (isSame && wrote === "") return [];
        const message = `ended ${before.state} at event ${before.head}, and then became ${row.state} with ${wrote || "no event"}`;
        return [{ invariant: "I2", execution_id, message }];
      });
    }),
    ...answersOfEnds(evidence, excuse),
  ];
}

function endOfLog({ row, log }: ExecutionAtRest): Violation[] {
  const { execution_id, state, session } = row;
  const ends = log.filter(({ event }) => ENDS[event.type] !== undefined);
  const say = (message: string): Violation[] => [{ invariant: "I2", execution_id, message }];
  const [end, second] = ends;
  if (second) return say(`has two ends: events ${end?.event.seq} and ${second.event.seq}`);
  if (end && end !== log.at(-1)) {
    return say(`its log goes on behind its end, ${end.event.type} at ${end.event.seq}`);
  }
  if (end && ENDS[end.event.type] !== state) {
    return say(`its log ends with ${end.event.type}, its row says ${state}`);
  }
  if (!end && isTerminal(state)) return say(`is ${state} without an event that says so`);
  if (isTerminal(state) && session !== null) return say(`is ${state} and owned by ${session}`);
  return [];
}

/** Whoever was told of an end was told of the one that stands. */
function answersOfEnds(evidence: Evidence, excuse: Excuse): Violation[] {
  const rows = new Map(evidence.executions.map(({ row }) => [row.execution_id, row]));
  return evidence.requests.flatMap(({ asked, answer, client }): Violation[] => {
    if (answer.kind !== "done" || answer.state === null) return [];
    const row = rows.get(answer.execution_id);
    const told = answer.state.toUpperCase();
    if (!row || !isTerminal(told as State)) return [];
    const { execution_id } = row;
    const say = (message: string): Violation[] => [{ invariant: "I2", execution_id, message }];
    if (told !== row.state)
      return say(`${client} was told by ${asked.kind} that it is ${told}; it is ${row.state}`);
    if (told !== "COMPLETED" || answer.output === undefined) return [];
    const isTold = (output: Encoded) => isDeepStrictEqual(toPlain(output), answer.output);
    if (isTold(storedForm(row.output, evidence))) return [];
    if (isTold(row.output) && excuse("reference shown for a value")) return [];
    return say(`${client} was told another output by ${asked.kind} than it has`);
  });
}
