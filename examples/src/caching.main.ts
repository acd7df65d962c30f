/** The function of a cached task runs once per key and hour, in whichever execution asks first. */
import assert from "node:assert/strict";
import { testEngine } from "@engine/sdk/testing";
import { convertAmount } from "./caching.ts";

const engine = testEngine();
const requests = () => engine.calls.length;

const first = await engine.run(convertAmount, { cents: 100, from: "EUR", to: "USD" });
assert.equal(first.output, 106);
assert.equal(requests(), 1);

// Another execution with another amount: the key is the same, so the rate is handed on.
const second = await engine.run(convertAmount, { cents: 5_000, from: "EUR", to: "USD" });
assert.equal(second.output, 5_300);
assert.equal(requests(), 1);
const outcome = second.events.find((event) => event.type === "TASK_COMPLETED");
assert.equal(outcome?.meta?.["cached"], true);

// Other currencies have a key of their own.
await engine.run(convertAmount, { cents: 100, from: "EUR", to: "JPY" });
assert.equal(requests(), 2);

// EXE-49a: after the hour it is asked for again.
await engine.advance("61m");
await engine.run(convertAmount, { cents: 100, from: "EUR", to: "USD" });
assert.equal(requests(), 3);
console.log("caching: 4 conversions,", requests(), "requests");
