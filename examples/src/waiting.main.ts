/** Waits of each kind in one execution; here the long ones are short. */
import assert from "node:assert/strict";
import { run } from "@engine/local";
import { deliverOrder } from "./waiting.ts";

const order = {
  id: "o1",
  address: "Rua das Flores 1",
  ship_at: "2020-01-01T08:00:00Z", // It is past, so nothing is waited for.
  patience_days: 1e-9, // The shortest wait there is: one millisecond.
};
const paused = await run(deliverOrder, order);
const [wait] = paused.waiting;
console.log(paused.state, wait?.name, wait?.output, wait?.until);

const corrected = { address: "Rua das Flores 7" };
const done = await run(deliverOrder, corrected, { executionId: paused.executionId });
console.log(done.state, done.output);

assert.equal(paused.paused, true);
assert.equal(wait?.output, order.address);
// EXE-50: a wait is recorded with its absolute end.
const opened = paused.events.find((event) => event.type === "TASK_PAUSED");
const days = (Date.parse(wait?.until ?? "") - Date.parse(`${opened?.time}Z`)) / 86_400_000;
assert.ok(Math.abs(days - 2) < 0.001, `${days} days`);

// EXE-53: nobody sent the signal in time; EXE-54: the child gave its output.
assert.deepEqual(done.output, { booking: "courier for o1 to Rua das Flores 7", delivered: false });
assert.deepEqual(
  done.events.filter(({ type }) => type === "TASK_COMPLETED").map(({ source_id }) => source_id),
  ["pause~1", "sleep~1", "call~1", "signal~1"],
);
