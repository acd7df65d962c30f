/**
 * The gate (DSP-1): the one function that says whether an execution may go to a worker now, and to
 * which. Nothing else chooses; starts, resumes, re-dispatch and adoption all ask here.
 */

/** A worker as the gate sees it. */
export interface Candidate {
  readonly worker: string;
  readonly load: number;
  readonly slots: number;
  readonly hasFreeSlot: boolean;
  readonly takesWork: boolean;
}

export type GateAnswer<C extends Candidate> =
  | { readonly kind: "claim"; readonly candidate: C }
  | {
      readonly kind: "wait";
      readonly reason: "no_worker" | "workers_unavailable" | "workers_full";
    };

export function gate<C extends Candidate>(
  execution: { readonly last_worker: string | null },
  connected: Iterable<C>,
): GateAnswer<C> {
  let reason: "no_worker" | "workers_unavailable" | "workers_full" = "no_worker";
  let best: C | undefined;
  for (const candidate of connected) {
    if (!candidate.takesWork) {
      if (reason === "no_worker") reason = "workers_unavailable";
      continue;
    }
    reason = "workers_full";
    if (!candidate.hasFreeSlot) continue;
    // What it did before may be warm there; it only chooses among those that may have it.
    if (candidate.worker === execution.last_worker) return { kind: "claim", candidate };
    if (!best || isBetter(candidate, best)) best = candidate;
  }
  return best ? { kind: "claim", candidate: best } : { kind: "wait", reason };
}

/** Lowest load, then name (DSP-6). */
function isBetter(a: Candidate, b: Candidate): boolean {
  return a.load !== b.load ? a.load < b.load : a.worker < b.worker;
}
