/** A diamond runs each step once, `when` leaves one out, and a cancel undoes what is under way. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { testEngine } from "@engine/sdk/testing";
import { charge, fulfilOrder } from "./order-fulfilment.ts";

const engine = testEngine();
const order = { id: "o1", cents: 4_200 };

const plain = await engine.run(fulfilOrder, order);
assert.deepEqual(plain.output, { sent: ["shelf of o1", "4200 cents for o1"] });
const tasksOf = (executionId: string) =>
  engine.events(executionId).filter(({ type, kind }) => type === "TASK_STARTED" && kind === null);
assert.deepEqual(
  tasksOf(plain.executionId).map(({ name }) => name),
  ["check", "reserve", "charge", "ship"],
);

const gift = await engine.run(fulfilOrder, { ...order, gift: true });
assert.deepEqual(gift.output, {
  sent: ["shelf of o1", "4200 cents for o1", "paper for shelf of o1"],
});

// The customer changes their mind while the bank is being asked.
engine.mock(charge, async (_, { executionId, signal }) => {
  void engine.cancel(executionId, { reason: "ordered twice" });
  await once(signal, "abort");
  throw signal.reason;
});
const cancelled = await engine.run(fulfilOrder, order);
assert.equal(cancelled.state, "CANCELLED");
// EXE-42: what was under way is undone; what was done, such as the reservation, stays done.
const undone = cancelled.events.filter(({ type }) => type === "TASK_ROLLBACK_COMPLETED");
assert.deepEqual(
  undone.map(({ source_id }) => source_id),
  ["graph~1/charge~1"],
);
console.log("order fulfilment:", gift.output);
