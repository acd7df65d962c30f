/** A pause ends the run, not the execution: the same id continues it, in this process or another. */
import assert from "node:assert/strict";
//#region run
import { run } from "@engine/local";
import { expenseClaim } from "./pause-and-resume.ts";

const claim = { employee: "ada", cents: 4250, reason: "train to Porto" };
const first = await run(expenseClaim, claim);
console.log(first.state, first.waiting[0]?.output);

const done = await run(
  expenseClaim,
  { approved: true, by: "grace" },
  { executionId: first.executionId },
);
console.log(done.state, done.output);
//#endregion

assert.equal(first.paused, true);
assert.equal(first.finished, false);
assert.equal(first.waiting[0]?.output, "ada asks for 42.50 EUR: train to Porto");

assert.equal(done.succeeded, true);
assert.equal(done.executionId, first.executionId);
assert.deepEqual(done.output, {
  paid: true,
  by: "grace",
  receipt: "transfer of 4250 cents to ada",
});
// The task before the pause ran once: the second run took its result from the log.
const described = done.events.filter((event) => event.source_id === "describe~1");
assert.deepEqual(
  described.map((event) => event.type),
  ["TASK_STARTED", "TASK_COMPLETED"],
);

// A finished execution is only read again: nothing is written.
const again = await run(expenseClaim, undefined, { executionId: first.executionId });
assert.deepEqual(again.output, done.output);
assert.equal(again.events.length, done.events.length);
