/**
 * I7: every log, and every part of it that a crash could have left, replays on the code that made it:
 * with the same calls, the same values handed to the code in the same order, and the same output.
 */
import { isDeepStrictEqual } from "node:util";
import type { Json } from "@engine/contract";
import type { Commit, Evidence, ExecutionAtRest } from "../evidence.ts";
import { type Excuse, uncounted } from "./excuses.ts";
import { commitsByExecution, storedForm } from "./recorded-calls.ts";
import { type Replay, type Replays, replay, type SightEncoded } from "./replays.ts";
import type { Violation } from "./violation.ts";

/** Prefixes of each log that are tried: a log of 1,000 events would have as many. */
const MOST_CUTS = 6;

export async function replayedLogs(
  evidence: Evidence,
  wholes: Replays,
  excuse: Excuse = uncounted,
): Promise<readonly Violation[]> {
  const commits = commitsByExecution(evidence);
  const violations: Violation[] = [];
  for (const execution of evidence.executions) {
    const { execution_id } = execution.row;
    const whole = wholes.get(execution_id);
    if (!whole && excuse("code never ran")) continue;
    const own = commits.get(execution_id) ?? [];
    const messages = whole ? await replays(execution, { whole, commits: own, evidence }) : [];
    for (const message of messages) violations.push({ invariant: "I7", execution_id, message });
  }
  return violations;
}

async function replays(
  execution: ExecutionAtRest,
  {
    whole,
    commits,
    evidence,
  }: { readonly whole: Replay; readonly commits: readonly Commit[]; readonly evidence: Evidence },
): Promise<readonly string[]> {
  const { row, log } = execution;
  if (whole.problem !== undefined) return [`its log does not replay: ${whole.problem}`];
  const messages: string[] = [];
  if (row.state === "COMPLETED") {
    const output = whole.sights.find(({ kind }) => kind === "output");
    if (!isDeepStrictEqual(output?.value, storedForm(row.output, evidence))) {
      messages.push(`its log replays to another output than it has: ${text(output?.value)}`);
    }
  }
  const began = log.find(({ event }) => event.type === "WORKFLOW_STARTED")?.event.seq ?? log.length;
  for (const cut of cutsOf(commits, { from: began, to: log.length })) {
    const part = await replay(execution, cut, evidence);
    if (part.problem !== undefined) {
      messages.push(`its log up to event ${cut} does not replay: ${part.problem}`);
      continue;
    }
    const differs = part.sights.findIndex((sight, i) => !isDeepStrictEqual(sight, whole.sights[i]));
    if (differs < 0) continue;
    messages.push(
      `replayed up to event ${cut}, value ${differs + 1} that the code gets is ${text(part.sights[differs])}; in the whole log it is ${text(whole.sights[differs])}`,
    );
  }
  return messages;
}

/** Ends of commits since its code began, spread over the log: inside of one no crash can cut. */
function cutsOf(
  commits: readonly Commit[],
  { from, to }: { readonly from: number; readonly to: number },
): readonly number[] {
  const ends = commits.flatMap(({ events }) => events.at(-1)?.seq ?? []);
  const inside = ends.filter((seq) => seq >= from && seq < to);
  const step = Math.max(1, inside.length / MOST_CUTS);
  const picked = Array.from(
    { length: Math.min(MOST_CUTS, inside.length) },
    (_, i) => inside[Math.floor(i * step)],
  );
  return picked.filter((seq) => seq !== undefined);
}

function text(value: SightEncoded | Json | undefined): string {
  return JSON.stringify(value)?.slice(0, 200) ?? "nothing";
}
