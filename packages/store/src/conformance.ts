import { describe } from "vitest";
import { catalogConformance } from "./conformance/catalog.ts";
import { claimConformance } from "./conformance/claims.ts";
import { effectConformance } from "./conformance/effects.ts";
import { executionConformance } from "./conformance/executions.ts";
import { forkConformance } from "./conformance/forks.ts";
import { listConformance } from "./conformance/lists.ts";
import { logConformance } from "./conformance/logs.ts";
import { randomChangesConformance } from "./conformance/random-changes.ts";
import { randomLivesConformance } from "./conformance/random-lives.ts";
import { retentionConformance } from "./conformance/retention.ts";
import { scheduleConformance } from "./conformance/schedules.ts";
import { sessionConformance } from "./conformance/sessions.ts";
import { signalConformance } from "./conformance/signals.ts";
import { taskCacheConformance } from "./conformance/task-cache.ts";
import { uniqueKeyConformance } from "./conformance/unique-keys.ts";
import { workerConformance } from "./conformance/workers.ts";
import type { Store } from "./store.ts";

/** What every store must do, as tests of vitest. `open` gives an empty store at each call. */
export function storeConformance(name: string, open: () => Promise<Store>): void {
  describe(name, () => {
    executionConformance(open);
    uniqueKeyConformance(open);
    claimConformance(open);
    effectConformance(open);
    forkConformance(open);
    signalConformance(open);
    logConformance(open);
    listConformance(open);
    catalogConformance(open);
    scheduleConformance(open);
    sessionConformance(open);
    workerConformance(open);
    retentionConformance(open);
    taskCacheConformance(open);
    randomChangesConformance(open);
    randomLivesConformance(open);
  });
}
