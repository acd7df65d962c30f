import type { Json, ServiceRun } from "@engine/contract";
import { expect, test } from "vitest";
import {
  acceptedResult,
  refusalResult,
  runResult,
  statusResult,
  violationResult,
} from "./results.ts";
import { pausedRun, runOf } from "./testing/run.ts";
import { endpointNames } from "./tool-names.ts";

const names = endpointNames([{ name: "invoice", ref: "billing/invoice" }]).get("billing/invoice");
if (!names) throw new Error("the endpoint has no names");

const completed = (output: Json) => runOf({ state: "COMPLETED", output });
const failed: ServiceRun = runOf({
  state: "FAILED",
  error: { code: "workflow_failed", message: "no such customer", details: { type: "Error" } },
});
const text = (shown: string) => [{ type: "text", text: shown }];

test.each([
  ["hello", "hello"],
  [{ total: 7 }, '{"total":7}'],
  [null, "null"],
  [[1, 2], "[1,2]"],
])("MCP-9 the output %j of a completed run is shown as %s", (output, shown) => {
  expect(runResult(completed(output), names)).toEqual({
    content: text(shown),
    structuredContent: { execution_id: "e1", state: "COMPLETED", output },
  });
});

test("MCP-9 a run that pauses says at what, and which tool goes on", () => {
  const result = runResult(pausedRun("input"), names);
  expect(result).toEqual({
    content: text(
      'Paused at "amount": {"limit":5}\nTo go on, call `resume_invoice` with execution_id "e1".',
    ),
    structuredContent: {
      execution_id: "e1",
      state: "PAUSED",
      output: null,
      pause: expect.objectContaining({ name: "amount", kind: "input" }),
    },
  });
});

test("MCP-9 a run that pauses for an approval waits for a decision, which no tool makes", () => {
  const { content } = runResult(pausedRun("approval"), names);
  expect(content).toEqual(
    text('Paused at "amount": {"limit":5}\nExecution e1 waits for a decision.'),
  );
});

test("MCP-9 an execution that goes on is told of by its id and state", () => {
  const accepted = {
    content: text(
      "Execution e1 is RUNNING. To see how it goes on, call `status_invoice` with this execution id.",
    ),
    structuredContent: { execution_id: "e1", state: "RUNNING", output: null },
  };
  expect(runResult(runOf({ state: "RUNNING" }), names)).toEqual(accepted);
  expect(acceptedResult(runOf({ state: "RUNNING" }), names)).toEqual(accepted);
});

test("MCP-9 a failure is a tool error with the message of the workflow's error", () => {
  expect(runResult(failed, names)).toEqual({
    content: text("no such customer"),
    structuredContent: {
      execution_id: "e1",
      state: "FAILED",
      output: null,
      error: { code: "workflow_failed", message: "no such customer", details: { type: "Error" } },
    },
    isError: true,
  });
});

test("MCP-9 reading an execution is no error, whatever became of it", () => {
  expect(statusResult(failed, names).isError).toBeUndefined();
  expect(statusResult(failed, names).content).toEqual(text("FAILED: no such customer"));
  expect(statusResult(completed([1]), names).content).toEqual(text("COMPLETED: [1]"));
  expect(statusResult(runOf({ state: "CREATED" }), names).content).toEqual(text("CREATED"));
  expect(statusResult(pausedRun("input"), names).content).toEqual(
    text(expect.stringMatching(/^PAUSED\. Paused at "amount".*`resume_invoice`/s)),
  );
});

test("MCP-9 a refusal names code, message, permissions and wrong fields", () => {
  const denied = {
    code: "permission_denied",
    message: "you may not",
    details: { missing_permissions: ["workflow:a:b:run", "workflow:a:c:run"] },
  };
  expect(refusalResult(denied)).toEqual({
    content: text(
      "permission_denied: you may not\nmissing permissions: workflow:a:b:run, workflow:a:c:run",
    ),
    structuredContent: { error: denied },
    isError: true,
  });
  const issues = [
    { path: "body.total", message: "expected a number" },
    { path: "body.lines[0]", message: "is unknown" },
  ];
  const wrong = { code: "invalid_input", message: "two fields are wrong", details: { issues } };
  expect(refusalResult(wrong, "e1")).toMatchObject({
    content: text(
      "invalid_input: two fields are wrong\n- body.total: expected a number\n- body.lines[0]: is unknown",
    ),
    structuredContent: { execution_id: "e1", error: wrong },
  });
});

test("MCP-10 an output of content blocks is returned as those", () => {
  const blocks = [
    { type: "text", text: "hi" },
    { type: "image", data: "aGk=", mimeType: "image/png" },
    { type: "audio", data: "aGk=", mimeType: "audio/wav" },
    { type: "resource", resource: { uri: "file:///a", text: "a" } },
    { type: "resource_link", uri: "file:///a", name: "a" },
  ];
  const result = runResult(completed({ mcp_content: blocks }), names);
  expect(result.content).toEqual(blocks);
  expect(result.structuredContent).toMatchObject({ output: { mcp_content: blocks } });
  expect(statusResult(completed({ mcp_content: blocks }), names).content).toEqual([
    ...text("COMPLETED"),
    ...blocks,
  ]);
});

test.each([
  { mcp_content: [{ type: "text", text: "hi" }], more: 1 },
  { mcp_content: [{ type: "text" }] },
  { mcp_content: [{ type: "video", data: "" }] },
  { mcp_content: "hi" },
])("MCP-10 %j is an output like any other", (output) => {
  expect(runResult(completed(output), names).content).toEqual(text(JSON.stringify(output)));
});

test("MCP-10 an output that is not what the workflow declares is a tool error; the run stays completed", () => {
  const issues = [{ path: "output.total", message: "expected a number, got a string" }];
  expect(violationResult(completed({ total: "7" }), issues)).toMatchObject({
    content: text(expect.stringMatching(/COMPLETED.*\n- output\.total: expected a number/s)),
    structuredContent: { state: "COMPLETED", output: { total: "7" } },
    isError: true,
  });
});
