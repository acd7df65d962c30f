/**
 * The gate (DSP-1): the one function that says whether an execution may go to a worker now, and to which
 * one. Starts, resumes, re-dispatch, adoption, the answers to "why" and dry runs all ask here.
 */
import {
  type Failure,
  type LimitDenial,
  type Preference,
  type Requirements,
  type Score,
  type Suspicion,
  scoresOf,
  type WorkerResources,
} from "@engine/contract";
import {
  allLacking,
  type Capabilities,
  lacks,
  lacksRoom,
  type Needs,
  rankedAmounts,
} from "./fits.ts";

/** An execution that waits for a worker, as the gate sees it. */
export interface Dispatchable extends Needs {
  readonly last_worker: string | null;
  /** Whether its last worker lost it: then any other worker comes first (LIV-5). */
  readonly was_lost: boolean;
  readonly suspicion: Suspicion;
  /** No worker has had it: the last one is only where it had better go, as that of a child's parent. */
  readonly isFresh?: boolean;
  /** Its principal cannot be used or may not run it: no worker gets it (AUTH-36). */
  readonly isHeld?: boolean;
  /** A limit that is known to have no place for it (FLW-8). */
  readonly limited?: LimitDenial | undefined;
  /** What it needs cannot be told, whatever workers there are (AFF-5). */
  readonly unplaceable?: Failure | null | undefined;
}

/** A worker as the gate sees it. */
export interface Candidate extends Capabilities {
  readonly load: number;
  /** 0 = unlimited. */
  readonly slots: number;
  readonly hasFreeSlot: boolean;
  readonly takesWork: boolean;
  /** What it measures of itself, as far as that is not too old (RTE-1). */
  readonly metrics: Readonly<Record<string, number>>;
  /** Whether it may run another execution apart, beside those that it runs so. */
  hasPlaceApart(suspicion: Suspicion): boolean;
  /** As it reported last. */
  readonly resources: WorkerResources | null;
  reservations(): Iterable<Requirements>;
}

export type WaitReason =
  | "principal_unavailable"
  | LimitDenial["reason"]
  | "no_worker"
  | "required_worker"
  | "no_matching_worker"
  | "workers_unavailable"
  | "workers_full";

export type GateAnswer<C extends Candidate> =
  | {
      readonly kind: "claim";
      readonly candidate: C;
      /** What the workflow's policy gave it; null where none chose it. */
      readonly score: number | null;
    }
  | { readonly kind: "wait"; readonly reason: WaitReason }
  | { readonly kind: "fail"; readonly failure: Failure };

export interface GateOptions {
  /**
   * The candidates come in the order in which one of them is chosen where no policy ranks them: then
   * the first one that passes is taken, and those behind it are not looked at.
   */
  readonly inOrder?: boolean;
}

export function gate<C extends Candidate>(
  execution: Dispatchable,
  connected: Iterable<C>,
  { inOrder = false }: GateOptions = {},
): GateAnswer<C> {
  const stopped = stopsAlone(execution);
  if (stopped) return stopped;
  const { requirements, last_worker, was_lost } = execution;
  const policy = policyOf(execution);
  let reason: WaitReason = requirements?.worker === undefined ? "no_worker" : "required_worker";
  let best: C | undefined;
  let lastResort: C | undefined;
  const ranked: C[] = [];
  for (const candidate of connected) {
    const stands = standingOf(execution, candidate);
    if (stands === "unmatched") {
      if (reason === "no_worker") reason = "no_matching_worker";
      continue;
    }
    if (stands === "away") {
      if (reason !== "workers_full") reason = "workers_unavailable";
      continue;
    }
    reason = "workers_full";
    if (stands === "full") continue;
    const isLast = candidate.worker === last_worker;
    if (isLast && was_lost) lastResort = candidate;
    // A copy may be warm there. This only chooses among workers that may have the execution.
    else if (isLast && isAskedFirst(execution, policy)) return claim(candidate);
    else if (policy.length > 0) ranked.push(candidate);
    else if (inOrder) return claim(candidate);
    else if (!best || isBetter(candidate, best, requirements?.prefers)) best = candidate;
  }
  if (ranked.length > 0) return highest(execution, policy, ranked);
  const chosen = best ?? lastResort;
  return chosen ? claim(chosen) : { kind: "wait", reason };
}

/** A worker that could have an execution now, with what the policy makes of it. */
export interface Eligible<C extends Candidate> {
  readonly candidate: C;
  /** Null where there is no policy. */
  readonly score: Score | null;
}

/** A worker that cannot have an execution now. */
export interface Rejected<C extends Candidate> {
  readonly candidate: C;
  /** Whether it has all that is needed, and only cannot take it now. */
  readonly isMatching: boolean;
  /** What it lacks, in words; never empty. */
  readonly failing: readonly string[];
}

/** What the gate makes of each worker: the eligible in the order of choice, and what the others lack. */
export function review<C extends Candidate>(
  execution: Dispatchable,
  connected: Iterable<C>,
): { readonly eligible: readonly Eligible<C>[]; readonly rejected: readonly Rejected<C>[] } {
  const { requirements, last_worker, was_lost } = execution;
  const policy = policyOf(execution);
  const passing: C[] = [];
  const rejected: Rejected<C>[] = [];
  for (const candidate of connected) {
    const stands = standingOf(execution, candidate);
    if (stands === "eligible") passing.push(candidate);
    else {
      const isMatching = stands !== "unmatched";
      const failing = isMatching
        ? lacksNow(execution, candidate)
        : allLacking(execution, candidate);
      rejected.push({ candidate, isMatching, failing });
    }
  }
  const scores = policy.length > 0 ? scoresOf(policy, rankedOf(execution, passing)) : [];
  const eligible = passing.map((candidate, at) => ({ candidate, score: scores[at] ?? null }));
  const turn = ({ candidate: { worker } }: Eligible<C>) => {
    if (worker !== last_worker) return 1;
    return was_lost ? 2 : isAskedFirst(execution, policy) ? 0 : 1;
  };
  eligible.sort((a, b) => {
    if (turn(a) !== turn(b)) return turn(a) - turn(b);
    if (a.score && b.score && a.score.score !== b.score.score) return b.score.score - a.score.score;
    const preferred = policy.length > 0 ? undefined : requirements?.prefers;
    return isBetter(a.candidate, b.candidate, preferred) ? -1 : 1;
  });
  return { eligible, rejected };
}

/** What stops an execution whatever workers there are: checks 1 to 4. */
function stopsAlone(execution: Dispatchable): GateAnswer<never> | undefined {
  if (execution.isHeld) return { kind: "wait", reason: "principal_unavailable" };
  if (execution.unplaceable) return { kind: "fail", failure: execution.unplaceable };
  if (execution.limited) return { kind: "wait", reason: execution.limited.reason };
  return undefined;
}

/** How a worker stands to an execution: checks 5 to 7. */
function standingOf(
  execution: Dispatchable,
  candidate: Candidate,
): "unmatched" | "away" | "full" | "eligible" {
  if (lacks(execution, candidate) !== undefined) return "unmatched";
  if (!candidate.takesWork) return "away";
  if (!candidate.hasFreeSlot || roomLacking(execution, candidate) !== undefined) return "full";
  const { suspicion } = execution;
  return suspicion === "none" || candidate.hasPlaceApart(suspicion) ? "eligible" : "full";
}

/** What keeps a worker that matches from taking an execution now, in words. */
function lacksNow(execution: Dispatchable, candidate: Candidate): readonly string[] {
  if (!candidate.takesWork) return ["readiness for new work"];
  const room = roomLacking(execution, candidate);
  const failing = [
    ...(candidate.hasFreeSlot ? [] : ["a free slot"]),
    ...(room === undefined ? [] : [`free ${room}`]),
  ];
  return failing.length > 0 ? failing : ["a place for an execution that runs apart"];
}

function roomLacking({ requirements }: Dispatchable, candidate: Candidate): string | undefined {
  if (!requirements?.requests) return undefined;
  return lacksRoom(requirements.requests, candidate.resources, candidate.reservations());
}

/** By which its workers are ranked; empty: by their load. */
export function policyOf({ requirements, hidden }: Needs): readonly Preference[] {
  const open = requirements?.routing ?? NO_POLICY;
  return hidden?.routing ? [...open, ...hidden.routing] : open;
}

const NO_POLICY: readonly Preference[] = [];

/** Of a fresh execution the last worker is a preference, which a policy weighs by `sticky` (RTE-5). */
function isAskedFirst({ isFresh = false }: Dispatchable, policy: readonly Preference[]): boolean {
  return !isFresh || policy.length === 0;
}

/** The one with the highest score, then lowest load, then name (RTE-4). */
function highest<C extends Candidate>(
  execution: Dispatchable,
  policy: readonly Preference[],
  among: readonly C[],
): GateAnswer<C> {
  const scores = scoresOf(policy, rankedOf(execution, among));
  let best: { readonly candidate: C; readonly score: number } | undefined;
  for (const [at, candidate] of among.entries()) {
    const score = scores[at]?.score ?? 0;
    const isHigher =
      !best || score > best.score || (score === best.score && isBetter(candidate, best.candidate));
    if (isHigher) best = { candidate, score };
  }
  return best ? { kind: "claim", ...best } : { kind: "wait", reason: "workers_full" };
}

function rankedOf(execution: Dispatchable, candidates: readonly Candidate[]) {
  const { requirements, last_worker, isFresh = false } = execution;
  const preferred = (isFresh ? last_worker : null) ?? requirements?.prefers;
  return candidates.map((candidate) => {
    const { labels, metadata, metrics, load, slots, worker, resources } = candidate;
    const amounts = rankedAmounts(resources, candidate.reservations());
    return { labels, metadata, metrics, amounts, load, slots, isPreferred: worker === preferred };
  });
}

function claim<C extends Candidate>(candidate: C): GateAnswer<C> {
  return { kind: "claim", candidate, score: null };
}

/** Whether a comes before b: the preferred worker, then lowest load, then name (DSP-6). */
function isBetter(a: Candidate, b: Candidate, preferred?: string): boolean {
  if (preferred !== undefined && (a.worker === preferred || b.worker === preferred)) {
    return a.worker === preferred;
  }
  return a.load !== b.load ? a.load < b.load : a.worker < b.worker;
}
