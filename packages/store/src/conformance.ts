import { describe } from "vitest";
import { catalogConformance } from "./conformance/catalog.ts";
import { effectConformance } from "./conformance/effects.ts";
import { executionConformance } from "./conformance/executions.ts";
import { forkConformance } from "./conformance/forks.ts";
import { listConformance } from "./conformance/lists.ts";
import { logConformance } from "./conformance/logs.ts";
import { randomChangesConformance } from "./conformance/random-changes.ts";
import { randomLivesConformance } from "./conformance/random-lives.ts";
import { sessionConformance } from "./conformance/sessions.ts";
import { taskCacheConformance } from "./conformance/task-cache.ts";
import type { Store } from "./store.ts";

/** What every store must do, as tests of vitest. `open` gives an empty store at each call. */
export function storeConformance(name: string, open: () => Promise<Store>): void {
  describe(name, () => {
    executionConformance(open);
    effectConformance(open);
    forkConformance(open);
    logConformance(open);
    listConformance(open);
    catalogConformance(open);
    sessionConformance(open);
    taskCacheConformance(open);
    randomChangesConformance(open);
    randomLivesConformance(open);
  });
}
