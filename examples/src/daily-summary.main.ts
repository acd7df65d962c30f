/** What a schedule will start is an ordinary workflow: it runs without one, with the input it will get. */
import assert from "node:assert/strict";
import { testEngine } from "@engine/sdk/testing";
import { dailySummary } from "./daily-summary.ts";

const { schedule } = dailySummary.options;
console.log(dailySummary.qualifiedName, schedule?.spec);

// EXE-76: what the option holds is what the engine saves with the workflow.
assert.deepEqual(schedule?.spec, {
  type: "cron",
  expression: "0 7 * * 1-5",
  timezone: "Europe/Lisbon",
});
assert.equal(schedule?.overlap, "queue");

const engine = testEngine();
const { output } = await engine.run(dailySummary, schedule.input as { shop: string });
console.log(output);
assert.match(String(output), /^books, \d{4}-\d\d-\d\d: 15 orders$/);
