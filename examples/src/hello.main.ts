/** Runs the first example in this process, without a server, and reads its log. */
import assert from "node:assert/strict";
//#region run
import "@engine/local";
import { helloWorld } from "./hello.ts";

const result = await helloWorld.run("World");
console.log(result.state, result.output);
//#endregion

assert.equal(result.state, "COMPLETED");
assert.equal(result.output, "Hello, World");
assert.equal(result.name, "hello_world");
assert.equal(result.namespace, "default");
assert.deepEqual(
  result.events.map((event) => event.type),
  [
    "WORKFLOW_CREATED",
    "WORKFLOW_CLAIMED",
    "WORKFLOW_STARTED",
    "TASK_STARTED",
    "TASK_COMPLETED",
    "WORKFLOW_COMPLETED",
  ],
);
