/** The workflows that docs/services.md offers as endpoints, in this process. */
import assert from "node:assert/strict";
import { run } from "@engine/local";
import { invoice, payout, refund } from "./billing.ts";

const billed = await run(invoice, { id: "i1", cents: 50 });
assert.deepEqual(billed.output, { id: "i1", receipt: "receipt-i1", total: 62 });

const refunded = await run(refund, { id: "i1", cents: 50 });
assert.deepEqual(refunded.output, { id: "i1", receipt: "refund-i1" });

const asked = await run(payout, { to: "ada", cents: 900 });
assert.equal(asked.paused, true);
const paid = await run(payout, { approved: true }, { executionId: asked.executionId });
assert.equal(paid.output, "transferred 900 cents");

console.log(billed.output, paid.output);
