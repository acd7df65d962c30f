/** Progress is live only: however much of it there is, the log holds two events for the task. */
import assert from "node:assert/strict";
import { run } from "@engine/local";
import { compressArchive } from "./progress.ts";

const result = await run(compressArchive, { files: 5 });

assert.deepEqual(result.output, { compressed: 5 });
const logged = result.events.filter((event) => event.source_id === "compress~1");
assert.deepEqual(
  logged.map((event) => event.type),
  ["TASK_STARTED", "TASK_COMPLETED"],
);
console.log("progress: nothing of it was stored");
