import { decode, type Encoded, referenceOf } from "@engine/contract";
import { digest } from "@engine/simulation/digest";
import type { Entry, Evidence, ExecutionSeen, Violation } from "../evidence.ts";
import { beganBeforeTheCut, lastLineIsLost } from "./excuses.ts";
import { callsOf, copiedUpTo, type LoggedCall } from "./logged-calls.ts";

/** I5, I9: what is recorded of a task is what one of its functions returned. */
export function recordedWhatRan(evidence: Evidence): readonly Violation[] {
  return evidence.executions.flatMap((execution) => {
    const { execution_id } = execution;
    const messages = unfounded(execution, evidence);
    return messages.map((message) => ({ judge: "recorded what ran", execution_id, message }));
  });
}

function unfounded(execution: ExecutionSeen, evidence: Evidence): string[] {
  const { execution_id, history } = execution;
  const copied = copiedUpTo(history);
  const ofIt = evidence.entries.filter((entry) => entry.execution_id === execution_id);
  const byCall = Map.groupBy(ofIt, ({ task_call_id }) => task_call_id);
  const isOurs = ({ kind, outcome }: LoggedCall) =>
    kind === null && outcome?.type === "TASK_COMPLETED" && outcome.seq > copied;
  return [...callsOf(history).values()].filter(isOurs).flatMap((call) => {
    const own = byCall.get(call.task_call_id) ?? [];
    const returned = own.filter(({ exit }) => exit?.how === "returned");
    const value = call.outcome?.value as Encoded;
    const isRight = ({ exit }: Entry) => isElsewhere(value) || exit?.digest === digestOf(value);
    if (returned.some(isRight)) return [];
    if (beganBeforeTheCut(call, execution) || lastLineIsLost(own, evidence)) return [];
    const how =
      returned.length > 0
        ? "with another value than its function returned"
        : "and none of its functions returned";
    return [`${call.task_call_id} is completed at event ${call.outcome?.seq}, ${how}`];
  });
}

function isElsewhere(value: Encoded): boolean {
  return referenceOf(value) !== undefined;
}

function digestOf(value: Encoded): string {
  return digest(decode(value));
}
