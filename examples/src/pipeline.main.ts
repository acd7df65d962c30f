/** Each step gets the output of the one before; a Map between two tasks stays a Map. */
import assert from "node:assert/strict";
import { run } from "@engine/local";
import { keywords } from "./pipeline.ts";

const text =
  "The log is the truth. A worker reads the log, a worker adds to the log, and the truth in the log outlives the worker.";
const result = await run(keywords, text);

assert.equal(result.state, "COMPLETED");
assert.deepEqual(result.output, ["log", "worker", "truth"]);

const calls = result.events.filter((event) => event.type === "TASK_STARTED");
assert.deepEqual(
  calls.map((event) => event.name),
  ["pipeline", "words", "count", "top"],
);
console.log("pipeline:", result.output);
