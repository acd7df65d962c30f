/** Payments arrive early, in parts, late or never; each is taken once. */
import assert from "node:assert/strict";
import { testEngine } from "@engine/sdk/testing";
import { collectPayment, sendInvoice } from "./payments.ts";

const engine = testEngine();
const invoice = { id: "i1", customer: "ada", cents: 900 };

// Early: the bank is quicker than the mail. Nobody waits yet, so both parts are kept (EXE-53).
const unmock = engine.mock(sendInvoice, async (_, { executionId }) => {
  void engine.signal(executionId, "paid", { cents: 500 });
  void engine.signal(executionId, "paid", { cents: 400 });
  return "sent";
});
const early = await engine.run(collectPayment, invoice);
assert.deepEqual(early.output, { open: 0, reminded: false });
unmock();

// In time.
const started = await engine.run(collectPayment, invoice);
assert.equal(started.waiting[0]?.kind, "signal");
const inTime = await engine.signal(started.executionId, "paid", { cents: 900 });
assert.deepEqual(inTime.output, { open: 0, reminded: false });

// Late: after the timeout and the reminder. The wait that timed out has taken nothing.
const { executionId } = await engine.run(collectPayment, invoice);
await engine.advance("15d");
const late = await engine.signal(executionId, "paid", { cents: 900 });
assert.deepEqual(late.output, { open: 0, reminded: true });

// Never. A payment after the end is refused.
const never = await engine.run(collectPayment, invoice);
await engine.advance("30d");
assert.deepEqual(engine.get(never.executionId).output, { open: 900, reminded: true });
await assert.rejects(engine.signal(never.executionId, "paid", { cents: 900 }), {
  code: "execution_finished",
});
console.log("payments:", late.output);
