/** Requests choose a worker; without one, as in a test or a local run, nothing waits for resources. */
import assert from "node:assert/strict";
import { task } from "@engine/sdk";
import { testEngine } from "@engine/sdk/testing";
import { shrink, thumbnails } from "./thumbnails.ts";

const photos = Array.from({ length: 20 }, (_, n) => `photo ${n}`);
const { output } = await testEngine().run(thumbnails, { photos });
assert.equal(new Set(output).size, 20);

// RES-4: a copy of a task may request something else.
assert.deepEqual(shrink.with({ requests: { gpu: 1 } }).options.requests, { gpu: 1 });

// RES-1: what no worker could have is refused where it is written.
assert.throws(
  () => task({ name: "upscale", requests: { memory: "plenty" } }, async () => {}),
  /option requests\.memory of task\(\) must be bytes, or a number with .* such as "16GiB"; got "plenty"/,
);
console.log("thumbnails:", new Set(output).size, "made");
