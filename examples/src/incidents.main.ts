/**
 * The workflows of docs/hooks.md in this process. Their hooks come with a registration, so a local run
 * fires none of them; what they would be started with is handed over here.
 */
import assert from "node:assert/strict";
import { run } from "@engine/local";
import type { HookEnvelope } from "@engine/sdk";
import { checkout, openIncident } from "./incidents.ts";

const failed = await run(checkout, { card: "expired", cents: 50 });
assert.equal(failed.failure?.message, "the card has expired");

const envelope: HookEnvelope = {
  hook: "wf-examples-checkout",
  selector: "execution:examples:checkout:failed",
  delivery_id: "01900000-0000-7000-8000-000000000000",
  event_key: `${failed.executionId}:5`,
  attempt: 1,
  hop: 0,
  event: {
    domain: "execution",
    type: "failed",
    execution_id: failed.executionId,
    workflow_namespace: "examples",
    workflow_name: "checkout",
    value: { type: "Error", message: "the card has expired" },
    occurred_at: "2026-01-01T00:00:00.000Z",
    task_name: null,
    task_call_id: null,
    state: "failed",
  },
};
const opened = await run(openIncident, envelope);
assert.deepEqual(opened.output, {
  incident: `${failed.executionId}:5`,
  execution: failed.executionId,
});
console.log(opened.output);
