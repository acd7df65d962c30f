import { needs } from "../gate/fits.ts";
import type { Dispatchable, WaitReason } from "../gate/gate.ts";
import { limitWords } from "../limits/limit-words.ts";

/** What a user is told of why an execution has no worker, and what to do about it (DSP-8). */
export const WAIT_WORDS: Readonly<Record<WaitReason, (wanted: Dispatchable) => string>> = {
  principal_unavailable: () =>
    "the principal whose rights it has is disabled, banned or deleted, may not run the workflow, or there is none; enable it, grant it the run permission, or let another take the execution over",
  concurrency_limit: ({ limited }) => limitWords(limited),
  rate_limit: ({ limited }) => limitWords(limited),
  limit_undefined: ({ limited }) => limitWords(limited),
  no_worker: () => "no worker is connected; start one with `engine start worker`",
  required_worker: ({ requirements: it }) =>
    `worker ${it?.worker}, which it must have, is not connected or lacks what it needs; start it`,
  no_matching_worker: (it) =>
    `no connected worker has what it needs (${needs(it).join(", ")}); start one that does`,
  workers_unavailable: () =>
    "the workers that match are paused, draining or unhealthy; resume one, or start another",
  workers_full: () => "the workers that match are full; add slots or workers",
};
