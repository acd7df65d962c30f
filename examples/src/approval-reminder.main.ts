/** A week passes in a moment: the test engine has a clock of its own. */
import assert from "node:assert/strict";
import { testEngine } from "@engine/sdk/testing";
import { contractApproval } from "./approval-reminder.ts";

const contract = { title: "Lease of Rua das Flores 1", signer: "ada" };
const engine = testEngine({ now: "2026-03-02T15:00:00Z" });

const asked = await engine.run(contractApproval, contract);
assert.equal(asked.paused, true);
// EXE-51: with a wake, the pause says when it ends by itself.
assert.equal(asked.waiting[0]?.until, "2026-03-04T15:00:00.000Z");

// Nobody answers; on the fourth the pause ends, on the fifth at nine a reminder goes out.
await engine.advance("2d");
assert.equal(engine.get(asked.executionId).waiting[0]?.kind, "sleep");
await engine.advance("1d");
const reminded = engine.get(asked.executionId);
assert.equal(reminded.paused, true);
const mail = reminded.events.find((event) => event.source_id === "remind~1");
assert.equal(mail?.time, "2026-03-05 09:00:00.000");

const signed = await engine.resume(asked.executionId, { signed: true });
assert.deepEqual(signed.output, { signed: true, reminders: 1 });

// Another contract that nobody ever looks at.
const forgotten = await engine.run(contractApproval, contract);
await engine.advance("30d");
assert.deepEqual(engine.get(forgotten.executionId).output, { signed: false, reminders: 2 });
console.log("approval: reminded on", mail?.time, "and", signed.output);
