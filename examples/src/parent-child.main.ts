/** A child is an execution of its own; its parent gets its output, its failure or just its id. */
import assert from "node:assert/strict";
import { run } from "@engine/local";
import { archiveQuote, quote } from "./parent-child.ts";

const result = await run(quote, { customer: "ada", items: ["desk", "throne", "lamp"] });
assert.equal(result.state, "COMPLETED");
const { archive_id, ...priced } = result.output ?? {};
assert.deepEqual(priced, { customer: "ada", cents: 22_400, on_request: ["throne"] });

// EXE-54: one child for each call, and the outcome of the failed one is in the parent's log.
const failed = result.events.filter((event) => event.type === "TASK_FAILED");
assert.deepEqual(
  failed.map((event) => event.source_id),
  ["map~1/call~2"],
);

// EXE-56: the detached child has an id at once and a life of its own.
const archived = await run(archiveQuote, undefined, { executionId: String(archive_id) });
assert.equal(archived.output, "ada.pdf");
assert.equal(archived.parentId, result.executionId);
console.log("parent and children:", priced);
