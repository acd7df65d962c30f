import type { Evidence } from "../evidence.ts";
import { type Excuse, uncounted } from "./excuses.ts";
import { callsOf, copiedUpTo } from "./recorded-calls.ts";
import type { Violation } from "./violation.ts";

/** What somebody is told who resumes what waits for no such answer. */
const LOSERS: ReadonlySet<string> = new Set([
  ...["not_paused", "execution_finished", "ambiguous_pause"],
]);

/** I12: of those who resume one pause one wins, and the others are told so. */
export function racingResumes(
  evidence: Evidence,
  excuse: Excuse = uncounted,
): readonly Violation[] {
  const violations: Violation[] = [];
  for (const execution of evidence.executions) {
    const { execution_id } = execution.row;
    for (const { task_call_id, events } of callsOf(execution).values()) {
      const resumed = events.filter(({ type }) => type === "TASK_RESUMED");
      if (resumed.length < 2) continue;
      // EXE-87
      const own = resumed.filter(({ seq }) => seq > copiedUpTo(execution));
      if (own.length < 2 && excuse("opened anew by a fork")) continue;
      const message = `${task_call_id} was resumed at events ${resumed.map(({ seq }) => seq).join(", ")}`;
      violations.push({ invariant: "I12", execution_id, message });
    }
  }
  const winners = new Map<string, string>();
  for (const { asked, answer, client } of evidence.requests) {
    if (asked.kind !== "resume") continue;
    const { execution_id, pause } = asked;
    const say = (message: string) => violations.push({ invariant: "I12", execution_id, message });
    if (answer.kind === "refused" && !LOSERS.has(answer.code)) {
      say(`${client} resumed pause ${pause} and was told ${answer.code}`);
    }
    if (answer.kind !== "done") continue;
    const place = `${execution_id} ${pause}`;
    const other = winners.get(place);
    if (other !== undefined)
      say(`${other} and ${client} were both told that they resumed pause ${pause}`);
    winners.set(place, client);
  }
  return violations;
}
