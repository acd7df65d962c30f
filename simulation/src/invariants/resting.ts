import type { ExecutionRow } from "@engine/contract";
import type { Commit, Evidence, RestSeen } from "../evidence.ts";
import { unmet } from "../programs/wants.ts";
import { definitionAt, mostOf } from "./defined-limits.ts";
import { type Excuse, uncounted } from "./excuses.ts";
import { countsOfRow } from "./places.ts";
import { commitsByExecution } from "./recorded-calls.ts";
import { wantsOfRow } from "./seen-workers.ts";
import { LATE_MS } from "./timers.ts";
import type { Violation } from "./violation.ts";

/** Longer than a short wait keeps its slot, and all that a copy still has to say takes. */
const IDLE_MS = 3_000;
/** How long something broken may show later. */
const AFTERMATH_MS = 30_000;

/**
 * I17, whenever the engine is at rest, also in the middle of a run: nobody holds a slot, nothing waits
 * for nothing or for what is there already, and an open pause is PAUSED. What nobody takes is what no
 * worker may have (I15).
 */
export function resting(evidence: Evidence, excuse: Excuse = uncounted): readonly Violation[] {
  return [...atRest(evidence, excuse), ...heldPauses(evidence)];
}

function atRest(evidence: Evidence, excuse: Excuse): readonly Violation[] {
  const seen = new Set<string>();
  return evidence.rests.flatMap((rest) =>
    rest.rows.flatMap((row): Violation[] => {
      const { execution_id } = row;
      const wrong = unrest(row, rest, evidence);
      if (wrong === undefined || seen.has(`${execution_id} ${wrong}`)) return [];
      if (sleepsOnly(row) && isAnySet(evidence) && excuse("sleeps by a clock that was set back"))
        return [];
      seen.add(`${execution_id} ${wrong}`);
      const message = `at ${rest.at}, when nothing had happened since ${rest.since}, it is ${row.state}: ${wrong}`;
      return [{ invariant: "I17", execution_id, message }];
    }),
  );
}

/** Whether somebody has it who waits for nothing but time. */
function sleepsOnly({ session, waits }: ExecutionRow): boolean {
  return session !== null && waits.length > 0 && waits.every(({ kind }) => kind === "sleep");
}

function isAnySet({ faults }: Evidence): boolean {
  return faults.some(({ kind }) => kind === "clock_jump");
}

function unrest(
  row: ExecutionRow,
  { at, rows, workers }: RestSeen,
  evidence: Evidence,
): string | undefined {
  const { state, session, worker, waits, signals, wake_at, not_before } = row;
  const shown = waits.map(({ kind, name }) => `${kind} ${name}`).join(", ") || "nothing";
  if (session !== null) return `it is held by ${worker}, waiting for ${shown}`;
  const isDelayed = not_before !== null && not_before + LATE_MS >= at;
  if (QUEUED.has(state)) {
    const wants = wantsOfRow(row, evidence);
    const takers = workers.filter(
      (worker) => !wants || (!("missing" in wants) && unmet(wants, worker) === undefined),
    );
    const mayWait = isDelayed || takers.length === 0 || isFull(row, { at, rows }, evidence);
    return mayWait ? undefined : "nobody takes it";
  }
  const pause = waits.find(({ kind }) => kind === "pause");
  if (pause && state !== "PAUSED") return `its pause ${pause.name} is open`;
  if (!pause && state === "PAUSED") return `no pause of it is open: it waits for ${shown}`;
  if (waits.length === 0) return "it waits for nothing";
  if (wake_at !== null && wake_at + LATE_MS < at) return `it was to be woken at ${wake_at}`;
  const heard = waits.find(
    ({ kind, name }) => kind === "signal" && signals.names.some((known) => known.name === name),
  );
  if (heard) return `it waits for a signal ${heard.name}, of which it has one`;
  const ended = waits.find(
    ({ kind, execution_id }) =>
      kind === "child" && !rows.some((other) => other.execution_id === execution_id),
  );
  return ended && `it waits for its child ${ended.execution_id}, which has ended`;
}

/**
 * Whether there is no place for it: those that wait keep all of its workflow, or operators give none.
 * Nobody has any other place at rest.
 */
function isFull(
  row: ExecutionRow,
  { at, rows }: Pick<RestSeen, "at" | "rows">,
  evidence: Evidence,
): boolean {
  const { execution_id, workflow, state } = row;
  if (state === "CANCELLING") return false;
  return countsOfRow(row, evidence).some(({ most = 0, isKept, name }) => {
    if (name !== undefined) return mostOf(definitionAt(at, name, evidence)) === 0;
    if (!isKept) return false;
    const seated = rows.filter(
      (one) => one.workflow === workflow && one.execution_id !== execution_id && one.generation > 0,
    );
    return seated.length >= most;
  });
}

/** States in which an execution is somebody's to take. */
const QUEUED: ReadonlySet<string> = new Set(["CREATED", "RESUMING", "CANCELLING"]);

/**
 * A single execution comes to rest long before all of the engine does, and somebody may resume it by
 * then: so for each of them, whether it was paused as soon as nothing of it ran any more.
 */
function heldPauses(evidence: Evidence): readonly Violation[] {
  const bodies = Map.groupBy(evidence.bodies, ({ execution_id }) => execution_id);
  return [...commitsByExecution(evidence)].flatMap(([execution_id, commits]) => {
    const own = bodies.get(execution_id) ?? [];
    return commits.flatMap((commit, i): Violation[] => {
      const { at, row } = commit;
      const pause = row.waits.find(({ kind }) => kind === "pause");
      const until = commits[i + 1]?.at ?? evidence.ended_at;
      if (!pause || row.state !== "RUNNING" || row.session === null || until < at + IDLE_MS)
        return [];
      const isAtWork = own.some(
        (body) => body.at < at + IDLE_MS && !(body.end && body.end.at < at),
      );
      if (isAtWork || mayBeHeldUp(evidence, commit)) return [];
      const message = `its pause ${pause.name} is open since ${at}, nothing of it runs, and at ${until} it is still held by ${row.worker}`;
      return [{ invariant: "I17", execution_id, message }];
    });
  });
}

function mayBeHeldUp({ faults, activities }: Evidence, { at, row }: Commit): boolean {
  return (
    activities.some(({ worker }) => worker === row.worker) ||
    faults.some(
      (fault) =>
        (fault.worker === null || fault.worker === row.worker) &&
        fault.at <= at + IDLE_MS &&
        at <= (fault.until ?? fault.at) + AFTERMATH_MS,
    )
  );
}
