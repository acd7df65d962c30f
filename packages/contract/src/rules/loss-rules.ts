/** What the losses of an execution say of it (LIV-5): how often, how soon again, and beside whom. */

import { engineFailure, type Failure } from "../errors/failure.ts";
import type { ExecutionRow, Loss, LossReason } from "../executions/execution-row.ts";
import { formatInstant } from "../values/time.ts";

/**
 * How an execution is to be run, judged by its losses. `apart`: where nothing else would die with it.
 * `solo`: also with no other suspect on its worker, since running apart has not kept the worker from
 * dying.
 */
export type Suspicion = "none" | "apart" | "solo";

/**
 * Most workers die of their machine, and some again soon. Running apart is slower, so it takes as many
 * lost sessions as would fail an execution that had each of them to itself.
 */
const SESSIONS_TO_SUSPECT = 5;
/** After so many lost sessions that were shared, running in a process of its own has not helped. */
const SESSIONS_TO_ISOLATE = 7;
/** So many losses that do not count are kept. */
const MOST_UNCOUNTED = 7;
const LONGEST_DELAY_S = 60;

/** A worker that could not begin, or had forgotten, shows nothing of what the execution does. */
const HARMLESS: ReadonlySet<LossReason> = new Set<LossReason>(["unready", "forgotten"]);

/** Whether an execution may have ended the thread or process it ran in, as far as its losses tell. */
export function suspicionOf(losses: readonly Loss[]): Suspicion {
  if (losses.length === 0) return "none";
  const deaths = losses.filter(({ reason }) => !HARMLESS.has(reason));
  const sessions = deaths.filter(({ reason }) => reason === "session_lost");
  const shared = sessions.filter(({ uncounted }) => uncounted);
  if (shared.length >= SESSIONS_TO_ISOLATE) return "solo";
  const isSuspect = deaths.length > sessions.length || sessions.length >= SESSIONS_TO_SUSPECT;
  return isSuspect ? "apart" : "none";
}

/** The execution that a lost session counts against, if one that it held is known to have ended it. */
export function blamed<Held extends { readonly losses: readonly Loss[] }>(
  held: readonly Held[],
): Held | undefined {
  if (held.length === 1) return held[0];
  const solo = held.filter(({ losses }) => suspicionOf(losses) === "solo");
  return solo.length === 1 ? solo[0] : undefined;
}

/** The losses that an execution is failed for when there are too many. */
export function counted(losses: readonly Loss[]): readonly Loss[] {
  return losses.filter(({ uncounted }) => !uncounted);
}

/** The losses of an execution with one more. */
export function lossesAfter(
  row: Pick<ExecutionRow, "worker" | "generation" | "outcome_generation" | "losses">,
  at: number,
  { reason, uncounted = false }: { readonly reason: LossReason; readonly uncounted?: boolean },
): readonly Loss[] {
  const { worker, generation, outcome_generation } = row;
  const loss: Loss = { worker: worker ?? "unknown", generation, at, reason };
  if (outcome_generation === generation) {
    // After a recorded outcome neither this loss nor an earlier one is the code's doing. An execution
    // that ended its thread or process runs better apart the next time all the same.
    return reason === "runner_lost" || reason === "stuck" ? [{ ...loss, uncounted: true }] : [];
  }
  if (!uncounted) return [...row.losses, loss];
  const before = row.losses.filter((one) => one.uncounted);
  const oldest = before.length < MOST_UNCOUNTED ? undefined : before[0];
  return [...row.losses.filter((one) => one !== oldest), { ...loss, uncounted: true }];
}

/** At once after the first of a kind; then 1, 2, 4 … 60 s. */
export function delayedUntil(losses: readonly Loss[], now: number): number | null {
  const ofItsOwn = counted(losses).length;
  const others = losses.length - ofItsOwn;
  // Once the execution runs alone, earlier losses say nothing of how soon it may try again.
  const inARow = suspicionOf(losses) === "solo" ? ofItsOwn : Math.max(ofItsOwn, others);
  if (inARow < 2) return null;
  return now + Math.min(2 ** (inARow - 2), LONGEST_DELAY_S) * 1000;
}

export function crashLoop(losses: readonly Loss[]): Failure {
  const attempts = counted(losses).map((loss) => ({ ...loss, at: formatInstant(loss.at) }));
  const last = attempts.at(-1);
  const message = `${attempts.length} workers in a row lost the execution before it recorded anything, the last was ${last?.worker} (${last?.reason}); see details.attempts, fix what makes it crash, then restart or fork it`;
  return engineFailure("WorkerCrashLoopError", message, { details: { attempts } });
}
