/**
 * The gate (DSP-1): the one function that says whether an execution may go to a worker now, and to which
 * one. Starts, resumes, re-dispatch and adoption all ask here.
 */
import type { Requirements, Suspicion, WorkerResources } from "@engine/contract";
import { type Capabilities, lacks, lacksRoom } from "./fits.ts";

/** An execution that waits for a worker, as the gate sees it. */
export interface Dispatchable {
  readonly last_worker: string | null;
  readonly requirements: Requirements | null;
  /** Whether its last worker lost it: then any other worker comes first (LIV-5). */
  readonly was_lost: boolean;
  readonly suspicion: Suspicion;
  /** Its principal cannot be used or may not run it: no worker gets it (AUTH-36). */
  readonly isHeld?: boolean;
}

/** A worker as the gate sees it. */
export interface Candidate extends Capabilities {
  readonly load: number;
  readonly hasFreeSlot: boolean;
  readonly takesWork: boolean;
  /** Whether it may run another execution apart, beside those that it runs so. */
  hasPlaceApart(suspicion: Suspicion): boolean;
  /** As it reported last. */
  readonly resources: WorkerResources | null;
  reservations(): Iterable<Requirements>;
}

export type WaitReason =
  | "principal_unavailable"
  | "no_worker"
  | "required_worker"
  | "no_matching_worker"
  | "workers_unavailable"
  | "workers_full";

export type GateAnswer<C extends Candidate> =
  | { readonly kind: "claim"; readonly candidate: C }
  | { readonly kind: "wait"; readonly reason: WaitReason };

export function gate<C extends Candidate>(
  execution: Dispatchable,
  connected: Iterable<C>,
): GateAnswer<C> {
  const { requirements, last_worker, was_lost, suspicion } = execution;
  if (execution.isHeld) return { kind: "wait", reason: "principal_unavailable" };
  let reason: WaitReason = requirements?.worker === undefined ? "no_worker" : "required_worker";
  let best: C | undefined;
  let lastResort: C | undefined;
  for (const candidate of connected) {
    if (lacks(requirements, candidate) !== undefined) {
      if (reason === "no_worker") reason = "no_matching_worker";
      continue;
    }
    if (!candidate.takesWork) {
      if (reason !== "workers_full") reason = "workers_unavailable";
      continue;
    }
    reason = "workers_full";
    if (!candidate.hasFreeSlot || !hasRoom(execution, candidate)) continue;
    if (suspicion !== "none" && !candidate.hasPlaceApart(suspicion)) continue;
    if (candidate.worker === last_worker) {
      // A copy may be warm there. This only chooses among workers that may have the execution.
      if (!was_lost) return { kind: "claim", candidate };
      lastResort = candidate;
    } else if (!best || isBetter(candidate, best, requirements?.prefers)) best = candidate;
  }
  const chosen = best ?? lastResort;
  return chosen ? { kind: "claim", candidate: chosen } : { kind: "wait", reason };
}

function hasRoom({ requirements }: Dispatchable, candidate: Candidate): boolean {
  if (!requirements?.requests) return true;
  return !lacksRoom(requirements.requests, candidate.resources, candidate.reservations());
}

/** Whether a comes before b: the preferred worker, then lowest load, then name (DSP-6). */
function isBetter(a: Candidate, b: Candidate, preferred: string | undefined): boolean {
  if (a.worker === preferred || b.worker === preferred) return a.worker === preferred;
  return a.load !== b.load ? a.load < b.load : a.worker < b.worker;
}
