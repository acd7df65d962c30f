/** For tests: executions as a service tells of them. */
import type { Json, OpenPause, ServiceRun } from "@engine/contract";

/** Execution `e1` in a state; anything else as given. */
export function runOf(
  changes: Partial<ServiceRun> & { readonly state: ServiceRun["state"] },
): ServiceRun {
  const run = {
    execution_id: "e1",
    namespace: "billing",
    workflow: "invoice",
    version: 1,
    output: null as Json,
    ...changes,
  };
  // What a state needs beside this is up to the test.
  return run as ServiceRun;
}

export function pausedRun(kind: OpenPause["kind"]): ServiceRun {
  const pause: OpenPause = {
    name: "amount",
    kind,
    value: { limit: 5 },
    task_call_id: "c1",
    paused_at: "2026-01-01T00:00:00.000Z",
  };
  return runOf({ state: "PAUSED", pause, resume_url: "/services/shop/invoice/resume/e1" });
}
