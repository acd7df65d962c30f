import { describe } from "vitest";
import { beatConformance } from "./conformance/beats.ts";
import { taskCacheConformance } from "./conformance/cache.ts";
import { catalogConformance } from "./conformance/catalog.ts";
import { endedSessionConformance } from "./conformance/ended-sessions.ts";
import { claimConformance } from "./conformance/executions/claims.ts";
import { effectConformance } from "./conformance/executions/effects.ts";
import { forkConformance } from "./conformance/executions/forks.ts";
import { listConformance } from "./conformance/executions/lists.ts";
import { executionConformance } from "./conformance/executions/lives.ts";
import { randomChangesConformance } from "./conformance/executions/random-changes.ts";
import { randomLivesConformance } from "./conformance/executions/random-lives.ts";
import { signalConformance } from "./conformance/executions/signals.ts";
import { uniqueKeyConformance } from "./conformance/executions/unique-keys.ts";
import { forgottenValueConformance } from "./conformance/forgotten-values.ts";
import { logConformance } from "./conformance/log.ts";
import type { Open } from "./conformance/opened.ts";
import { queueConformance } from "./conformance/queue.ts";
import { replicaConformance } from "./conformance/replicas.ts";
import { retentionConformance } from "./conformance/retention.ts";
import { scheduleConformance } from "./conformance/schedules.ts";
import { sessionConformance } from "./conformance/sessions.ts";
import { unusedVersionConformance } from "./conformance/unused-versions.ts";
import { workerConformance } from "./conformance/workers.ts";
import type { Ports } from "./ports.ts";
import type { Store } from "./store.ts";

/** What each port must do: one without a suite does not compile. */
const SUITES: { readonly [Port in keyof Ports]: readonly ((open: Open) => void)[] } = {
  executions: [
    executionConformance,
    uniqueKeyConformance,
    claimConformance,
    effectConformance,
    forkConformance,
    signalConformance,
    listConformance,
    randomChangesConformance,
    randomLivesConformance,
  ],
  queue: [queueConformance],
  log: [logConformance],
  retention: [retentionConformance],
  catalog: [catalogConformance, unusedVersionConformance],
  schedules: [scheduleConformance],
  sessions: [sessionConformance, endedSessionConformance],
  beats: [beatConformance],
  workers: [workerConformance],
  cache: [taskCacheConformance],
  forgottenValues: [forgottenValueConformance],
  replicas: [replicaConformance],
};

/** What every store must do, as tests of vitest. `open` gives an empty store at each call. */
export function storeConformance(name: string, open: () => Promise<Store>): void {
  describe(name, () => {
    for (const suite of Object.values(SUITES).flat()) suite(open);
  });
}
