/**
 * Which tests `npm run check`, `npm test` and `npm run test:all` run. Entries are files, or folders
 * with a slash at the end, and were chosen by how long they took.
 */

/** Unit tests of three seconds and more: `npm run check` leaves them to `npm test`. */
const SLOW: readonly string[] = [
  "packages/cli/src/auth/",
  "packages/cli/src/commands/",
  "packages/cli/src/dev/replay-checks.test.ts",
  "packages/cli/src/hostile-values.test.ts",
  "packages/cli/src/wrong-inputs.test.ts",
  "packages/gateway/src/many-requests.test.ts",
  "packages/local/src/index.test.ts",
  "packages/local/src/taken-globals.test.ts",
  "packages/sdk/src/node/replay.property.test.ts",
  "packages/server/src/catalog/input/input-check.test.ts",
  "packages/sources/src/modules/linear-reading.test.ts",
  "packages/sources/src/source-process.test.ts",
  "packages/server/src/dispatch/long-queue.test.ts",
  "packages/server/src/dispatch/matrix.test.ts",
  "packages/server/src/handlers/any-request.test.ts",
  "packages/server/src/handlers/large-inputs.test.ts",
  "packages/http/src/request-bodies.test.ts",
  "packages/sources/src/jobs/job-process.test.ts",
  "packages/redaction/src/hostile.test.ts",
  "packages/redaction/src/masker.property.test.ts",
  "packages/server/src/retention/retention.test.ts",
  "packages/server/src/timers/sleeping-memory.test.ts",
  "packages/store/src/postgres/",
  "packages/store/src/sqlite/durability.test.ts",
  "packages/store/src/sqlite/sqlite-store.test.ts",
  "packages/worker/src/link/poll.test.ts",
  "packages/worker/src/executions/progress.test.ts",
  "packages/worker/src/machine/readiness.test.ts",
  "packages/worker/src/link/reconnect.test.ts",
  "packages/worker/src/metrics/heartbeat-metrics.test.ts",
  "packages/worker/src/metrics/provider-calls.test.ts",
  "packages/worker/src/runners/",
  "packages/worker/src/executions/local-services.test.ts",
  "packages/worker/src/executions/services.test.ts",
  "packages/worker/src/start-worker.test.ts",
  "packages/worker/src/stop.test.ts",
  "packages/worker/src/executions/task-requests.test.ts",
  "packages/worker/src/executions/warm.test.ts",
];

/** Minutes of real processes that are killed, stopped and loaded: `npm test` leaves them to CI. */
const LONG: readonly string[] = [
  "e2e/src/browser/",
  "e2e/src/control/delete-version.test.ts",
  "e2e/src/control/replay-check.test.ts",
  "e2e/src/dev/",
  "e2e/src/differential/differential.test.ts",
  "e2e/src/faults/",
  "e2e/src/hostile/",
  "e2e/src/idle/",
  "e2e/src/kill/kill-and-restart.test.ts",
  "e2e/src/kill/kill-replicas.test.ts",
  "e2e/src/kill/limits.test.ts",
  "e2e/src/mcp/",
  "e2e/src/others/others.test.ts",
  "e2e/src/replicas/",
  "e2e/src/runners/",
  "e2e/src/slice/server-stop.test.ts",
  "e2e/src/slice/service-answers.test.ts",
  "e2e/src/slice/service-cut.test.ts",
  "e2e/src/slice/taint.test.ts",
  "e2e/src/sweep/",
  "e2e/src/waits/children.test.ts",
  "e2e/src/waits/signals.test.ts",
  // The half of workers that hold a stream is in `npm test`.
  "packages/server/src/dispatch/matrix-poll.test.ts",
  "simulation/src/planted-bugs.test.ts",
];

export type Part = "quick" | "usual" | "rest";

/** What each part leaves out; `npm run test:all` runs nothing of what `npm test` has run. */
const LEFT_OUT: Readonly<Record<Part, readonly string[]>> = {
  /** `npm run check` */
  quick: [...SLOW, ...LONG],
  /** `npm test` */
  usual: LONG,
  /** `npm run test:all` */
  rest: [],
};

/**
 * Those that load the machine by themselves or measure what it does: they run one after the other. All
 * others across processes wait much of the time, and run two at a time.
 */
const LOADING: readonly string[] = [
  "e2e/src/differential/differential.test.ts",
  "e2e/src/faults/failover.test.ts",
  "e2e/src/faults/full-disk.test.ts",
  "e2e/src/faults/stalled-server.test.ts",
  "e2e/src/hostile/",
  "e2e/src/idle/",
  "e2e/src/kill/kill-and-restart.test.ts",
  "e2e/src/kill/kill-replicas.test.ts",
  // The suite gives a change of the tools a second and a half to arrive.
  "e2e/src/mcp/conformance.test.ts",
  "e2e/src/others/others.test.ts",
  "e2e/src/sweep/",
];

/** As patterns of files. */
export const NEEDS_THE_MACHINE: readonly string[] = LOADING.map((entry) =>
  entry.endsWith("/") ? `${entry}**/*.test.ts` : entry,
);

/** What a part leaves out or is made of. */
export const NAMED: readonly string[] = [...SLOW, ...LONG];

export function isPart(name: string): name is Part {
  return Object.hasOwn(LEFT_OUT, name);
}

/** Patterns of the files that are not run; without a part none. */
export function leftOut(part: string | undefined): string[] {
  if (part === undefined || !isPart(part)) return [];
  return LEFT_OUT[part].map((entry) => (entry.endsWith("/") ? `${entry}**` : entry));
}

/**
 * How vitest is started for a part. A caller who names paths or projects gets all of what is named,
 * whichever part it belongs to.
 */
export function startOf(
  part: Part,
  given: readonly string[],
): { readonly words: readonly string[]; readonly part: Part | undefined } {
  const names = given.some((word) => !word.startsWith("-") || word.startsWith("--project"));
  if (names && part === "usual") return { words: ["run", ...given], part: undefined };
  const files = part === "rest" ? LONG : [];
  const units = part === "quick" ? ["--project", "unit*"] : [];
  return { words: ["run", ...units, ...files, ...given], part };
}
