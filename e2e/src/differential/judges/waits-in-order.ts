import { type History, parseInstant } from "@engine/contract";
import type { Evidence, Violation } from "../evidence.ts";
import { beganAnew } from "./excuses.ts";
import { callsOf, copiedUpTo, fieldsOf } from "./logged-calls.ts";

/** I10: of two sleeps that are open at a time, the one whose instant comes first ends first. */
export function waitsInOrder({ executions }: Evidence): readonly Violation[] {
  return executions.flatMap(({ execution_id, history }) => {
    const waits = endedByTime(history);
    return outOfOrder(waits).map((message) => ({ judge: "waits in order", execution_id, message }));
  });
}

interface EndedByTime {
  readonly id: string;
  readonly from: number;
  readonly until: number;
  readonly to: number;
}

/** Sleeps, timers of bodies among them: of other waits the log does not say so plainly what ended them. */
function endedByTime(history: History): readonly EndedByTime[] {
  const calls = callsOf(history);
  const copied = copiedUpTo(history);
  return [...calls.values()].flatMap((call) => {
    const { task_call_id, kind, start, outcome } = call;
    if (kind !== "sleep" || !start || outcome?.type !== "TASK_COMPLETED") return [];
    const { until } = fieldsOf(start);
    if (typeof until !== "string" || outcome.seq <= copied) return [];
    const wait = { id: task_call_id, from: start.seq, until: parseInstant(until), to: outcome.seq };
    return beganAnew(call, { history }) ? [] : [wait];
  });
}

function outOfOrder(waits: readonly EndedByTime[]): string[] {
  const messages: string[] = [];
  for (const one of waits) {
    for (const other of waits) {
      const wereBothOpen = one.from < other.to && other.from < one.to;
      if (!wereBothOpen || one.until >= other.until || one.to <= other.to) continue;
      const by = other.until - one.until;
      messages.push(
        `${one.id} ended behind ${other.id} (events ${one.to}, ${other.to}), and was due ${by} ms before it`,
      );
    }
  }
  return messages;
}
