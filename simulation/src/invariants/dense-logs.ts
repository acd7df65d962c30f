import { parseEventTime } from "@engine/contract";
import type { Evidence } from "../evidence.ts";
import { commitsByExecution, copiedUpTo } from "./recorded-calls.ts";
import type { Violation } from "./violation.ts";

/** I3: numbers of events are dense and only grow, in the store over time and for every reader. */
export function denseLogs(evidence: Evidence): readonly Violation[] {
  const violations: Violation[] = [];
  const found = (execution_id: string, message: string) =>
    violations.push({ invariant: "I3", execution_id, message });

  const commits = commitsByExecution(evidence);
  for (const execution of evidence.executions) {
    const { row, log: known, stored: log = known } = execution;
    const { execution_id: id, head } = row;
    const gap = log.findIndex(({ event }, i) => event.seq !== i + 1);
    if (gap >= 0) found(id, `event ${gap + 1} of its log has the number ${log[gap]?.event.seq}`);
    if (head !== log.length) found(id, `its row has head ${head}, its log ${log.length} events`);
    const written = commits.get(id)?.flatMap(({ events }) => events) ?? [];
    for (const [i, { event }] of log.entries()) {
      if (JSON.stringify(written[i]) === JSON.stringify(event)) continue;
      const was = written[i] ? `${written[i].seq} ${written[i].type}` : "nothing";
      found(id, `event ${event.seq} ${event.type} is not what was committed there: ${was}`);
      break;
    }
    if (written.length > log.length) {
      found(id, `${written.length} events were committed, its log has ${log.length}`);
    }
    const copied = copiedUpTo(execution);
    for (const [i, { event }] of log.entries()) {
      const before = log[i - 1]?.event;
      if (!before || i < copied || parseEventTime(before.time) <= parseEventTime(event.time))
        continue;
      found(id, `event ${event.seq} has the time ${event.time}, before that of ${before.seq}`);
    }
  }
  for (const [id, own] of commits) {
    let head = 0;
    for (const { events, row } of own) {
      const [first] = events;
      if (first && first.seq !== head + 1) {
        found(id, `a commit wrote from event ${first.seq} on when the log ended at ${head}`);
      }
      head += events.length;
      if (row.head !== head) found(id, `a commit left head ${row.head} behind ${head} events`);
    }
  }
  for (const { asked, answer, client } of evidence.requests) {
    if (asked.kind !== "events" || answer.kind !== "done") continue;
    const wrong = answer.seqs?.findIndex((seq, i) => seq !== asked.after + 1 + i) ?? -1;
    if (wrong < 0) continue;
    found(
      asked.execution_id,
      `${client} read events behind ${asked.after} and saw ${answer.seqs?.[wrong]} where ${asked.after + 1 + wrong} should be`,
    );
  }
  return violations;
}
