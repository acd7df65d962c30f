/** A task that fails twice is tried again; one that cannot succeed is undone, then replaced. */
import assert from "node:assert/strict";
import { run } from "@engine/local";
import { placeOrder } from "./retry-fallback-rollback.ts";

const paid = await run(placeOrder, { id: "o1", cents: 900, card: "4111-22" });
assert.deepEqual(paid.output, {
  reservation: "o1/reserve_stock~1",
  paid_by: "card",
  note: "charged 900 cents",
});

const billed = await run(placeOrder, { id: "o2", cents: 900, card: "0000-33" });
assert.deepEqual(billed.output, {
  reservation: "o2/reserve_stock~1",
  paid_by: "invoice",
  note: "card 0000-33 was declined",
});

const eventsOf = (call: string) =>
  billed.events.filter((event) => event.source_id === call).map((event) => event.type);
assert.deepEqual(eventsOf("reserve_stock~1"), [
  "TASK_STARTED",
  "TASK_RETRY_STARTED",
  "TASK_RETRY_FAILED",
  "TASK_RETRY_STARTED",
  "TASK_RETRY_COMPLETED",
  "TASK_COMPLETED",
]);
assert.deepEqual(eventsOf("charge~1"), [
  "TASK_STARTED",
  "TASK_ROLLBACK_STARTED",
  "TASK_ROLLBACK_COMPLETED",
  "TASK_FALLBACK_STARTED",
  "TASK_FALLBACK_COMPLETED",
  "TASK_COMPLETED",
]);
console.log("retry, rollback, fallback:", billed.output);
