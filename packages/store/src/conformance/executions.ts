import { claimConformance } from "./executions/claims.ts";
import { effectConformance } from "./executions/effects.ts";
import { forkConformance } from "./executions/forks.ts";
import { hookTargetConformance } from "./executions/hook-targets.ts";
import { listConformance } from "./executions/lists.ts";
import { executionConformance } from "./executions/lives.ts";
import { outboxConformance } from "./executions/outbox.ts";
import { randomChangesConformance } from "./executions/random-changes.ts";
import { randomLivesConformance } from "./executions/random-lives.ts";
import { signalConformance } from "./executions/signals.ts";
import { uniqueKeyConformance } from "./executions/unique-keys.ts";
import type { Open } from "./opened.ts";

export function conformance(open: Open): void {
  executionConformance(open);
  uniqueKeyConformance(open);
  claimConformance(open);
  effectConformance(open);
  forkConformance(open);
  signalConformance(open);
  listConformance(open);
  outboxConformance(open);
  hookTargetConformance(open);
  randomChangesConformance(open);
  randomLivesConformance(open);
}
