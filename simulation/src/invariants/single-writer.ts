import type { Commit, Evidence, WorkerWrite } from "../evidence.ts";
import { type Excuse, uncounted } from "./excuses.ts";
import { commitsByExecution } from "./recorded-calls.ts";
import type { Violation } from "./violation.ts";

/** News of another server's commits may be late by this much. */
const NEWS_MS = 1_000;

/** I6: only the owner under the newest generation writes. */
export function singleWriter(evidence: Evidence, excuse: Excuse = uncounted): readonly Violation[] {
  const commits = commitsByExecution(evidence);
  return evidence.writes.flatMap((write): Violation[] => {
    if (!write.accepted) return [];
    const own = commits.get(write.execution_id) ?? [];
    const message =
      write.kind === "checkpoint" ? wroteLate(write, own, excuse) : cameLate(write, own);
    const { execution_id } = write;
    return message === undefined ? [] : [{ invariant: "I6", execution_id, message }];
  });
}

function wroteLate(
  write: Extract<WorkerWrite, { kind: "checkpoint" }>,
  commits: readonly Commit[],
  excuse: Excuse,
): string | undefined {
  const { session, generation, base_seq, count } = write;
  if (count === 0) return undefined;
  const first = base_seq + 1;
  const what = `${session} under generation ${generation} was told that events ${first} to ${base_seq + count} are recorded`;
  const i = commits.findIndex(({ events }) => events.some(({ seq }) => seq === first));
  if (i < 0) return `${what}, and no commit has event ${first}`;
  const last = base_seq + count;
  if (!commits.some(({ events }) => events.some(({ seq }) => seq === last))) {
    return `${what}, and no commit has event ${last}`;
  }
  const owner = commits[i - 1]?.row;
  if (!owner) return undefined;
  if (owner.generation < generation && excuse("sent again after a hand-over")) return undefined;
  if (owner.generation === generation && owner.session === session) return undefined;
  return `${what}; when they were written it belonged to ${owner.session} under generation ${owner.generation}`;
}

function cameLate(write: WorkerWrite, commits: readonly Commit[]): string | undefined {
  if (write.kind !== "progress") return undefined;
  const newer = commits.find(
    ({ row, at }) => row.generation > write.generation && at + NEWS_MS < write.at,
  );
  if (!newer) return undefined;
  return `progress of ${write.session} under generation ${write.generation} was taken at ${write.at}; generation ${newer.row.generation} began at ${newer.at}`;
}
