import { isTerminal } from "@engine/contract";
import type { Evidence } from "../evidence.ts";
import { type Excuse, uncounted } from "./excuses.ts";
import type { Violation } from "./violation.ts";

/** How long a tick may be on its way to the start it makes. */
const TICK_MS = 10_000;

/** I23, of schedules: a tick starts one execution at most, and never before its instant. */
export function scheduleTicks(
  evidence: Evidence,
  excuse: Excuse = uncounted,
): readonly Violation[] {
  const starts = new Map<string, string>();
  return evidence.executions.flatMap(({ row }): Violation[] => {
    const { execution_id, schedule, scheduled_for, created_at } = row;
    if (schedule === null || scheduled_for === null) return [];
    const say = (message: string): Violation[] => [{ invariant: "I23", execution_id, message }];
    const tick = `tick ${scheduled_for} of schedule ${schedule}`;
    const other = starts.get(tick);
    starts.set(tick, execution_id);
    if (other !== undefined) return say(`it and ${other} were both started by ${tick}`);
    if (created_at >= scheduled_for) return [];
    if (isSetBack(evidence, execution_id) && excuse("schedule's clock set back")) return [];
    return say(`it was started at ${created_at} by ${tick}`);
  });
}

/** Whether the clock of a server was set between the tick and its start. */
function isSetBack({ commits, faults }: Evidence, execution_id: string): boolean {
  const start = commits.find((commit) => commit.execution_id === execution_id);
  return faults.some(
    ({ kind, worker, at }) =>
      kind === "clock_jump" &&
      worker === null &&
      start &&
      at <= start.at &&
      start.at < at + TICK_MS,
  );
}

/** I23, of retention: what lives, or is needed by what is kept, stays. */
export function retained(evidence: Evidence): readonly Violation[] {
  const deleted = new Set(evidence.deletions.map(({ execution_id }) => execution_id));
  const wrong = evidence.deletions.flatMap(({ execution_id, before, at }): Violation[] => {
    const last = evidence.commits.findLast((commit) => commit.execution_id === execution_id);
    const say = (message: string): Violation[] => [{ invariant: "I23", execution_id, message }];
    if (!last) return [];
    const { state, finished_at } = last.row;
    if (!isTerminal(state)) return say(`it was deleted at ${at} while it was ${state}`);
    if (finished_at !== null && finished_at < before) return [];
    return say(
      `it was deleted at ${at}, and ended at ${finished_at}: only what ended before ${before} may go`,
    );
  });
  const orphaned = evidence.executions.flatMap(({ row }): Violation[] => {
    const { execution_id, forked_from } = row;
    if (deleted.has(execution_id)) {
      return [{ invariant: "I23", execution_id, message: "it was deleted, and the store has it" }];
    }
    if (!forked_from || !deleted.has(forked_from.execution_id)) return [];
    const message = `it was forked from ${forked_from.execution_id}, which was deleted before it`;
    return [{ invariant: "I23", execution_id, message }];
  });
  return [...wrong, ...orphaned, ...childrenFirst(evidence, deleted)];
}

/** A child stays as long as its parent. */
function childrenFirst(
  { commits, executions }: Evidence,
  deleted: ReadonlySet<string>,
): readonly Violation[] {
  const kept = new Set(executions.map(({ row }) => row.execution_id));
  const parents = new Map(commits.map(({ execution_id, row }) => [execution_id, row.parent_id]));
  return [...deleted].flatMap((execution_id): Violation[] => {
    const parent_id = parents.get(execution_id) ?? null;
    if (parent_id === null || !kept.has(parent_id)) return [];
    const message = `it was deleted, and its parent ${parent_id} is kept`;
    return [{ invariant: "I23", execution_id, message }];
  });
}
