import { EngineError, type Json, type ServiceRun, type ToolKind } from "@engine/contract";
import { expect, test } from "vitest";
import { type AskedTool, type CallContext, callTool } from "./call-tool.ts";
import type { ProgressNote } from "./progress.ts";
import { endpointOf } from "./testing/endpoint.ts";
import { pausedRun, runOf } from "./testing/run.ts";
import { ScriptedCalls } from "./testing/scripted-calls.ts";
import { World } from "./testing/world.ts";
import type { ToolArguments } from "./tool-arguments.ts";

import { toolsOf } from "./tools.ts";

const endpoint = endpointOf("billing/invoice", {
  input_schema: { type: "object", properties: { total: { type: "number" } } },
  output_schema: { type: "string" },
});

/** A caller of the tools of one endpoint. */
function caller() {
  const calls = new ScriptedCalls([endpoint]);
  const world = new World();
  const left = new AbortController();
  const cancelled = new AbortController();
  const context: CallContext = {
    calls,
    left: left.signal,
    cancelled: cancelled.signal,
    limits: { mcp_sync_timeout: 50, sync_timeout: 300 },
    clock: world.clock,
    setTimer: world.setTimer,
    checkOutput: (_, output) =>
      typeof output === "string" ? [] : [{ path: "output", message: "expected a string" }],
  };
  const tools = toolsOf([endpoint]);
  function call(kind: ToolKind, given: ToolArguments = {}, changes: Partial<CallContext> = {}) {
    const tool = tools.find((each) => each.kind === kind);
    if (!tool) throw new Error(`there is no tool of kind ${kind}`);
    const asked: AskedTool = { tool, arguments: given, idempotency_key: undefined };
    return callTool(asked, { ...context, ...changes });
  }
  return { calls, world, left, cancelled, context, tools, call, stream: calls.stream };
}

const texts = (result: Awaited<ReturnType<typeof callTool>>) =>
  result.content.map((block) => (block.type === "text" ? block.text : block.type)).join("\n");

/** Until the work that is already possible has been done. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

test("MCP-8 a run is posted with the arguments as its input, and answers the output", async () => {
  const { calls, call, stream } = caller();
  stream.state("CREATED");
  stream.state("RUNNING");
  stream.state("COMPLETED", { output: "done" });
  const result = await call("run", { total: 7 });
  expect(calls.asked).toEqual([
    { request: "follow run", kind: "run", ref: "billing/invoice", input: { total: 7 } },
  ]);
  expect(result).toEqual({
    content: [{ type: "text", text: "done" }],
    structuredContent: { execution_id: "e1", state: "COMPLETED", output: "done" },
  });
});

test("MCP-8 MCP-9 async, resume and status make their own requests", async () => {
  const { calls, call, stream } = caller();
  stream.state("COMPLETED", { output: "done" });
  expect(texts(await call("async", { total: 1 }))).toContain("call `status_invoice`");
  expect(texts(await call("resume_async", { execution_id: "e1", input: "[1]" }))).toContain(
    "Execution e1 is CREATED",
  );
  expect(texts(await call("status", { execution_id: "e1" }))).toBe("CREATED");
  expect(texts(await call("resume", { execution_id: "e1" }))).toBe("done");
  const ref = "billing/invoice";
  expect(calls.asked).toEqual([
    { request: "run", kind: "run", ref, input: { total: 1 } },
    { request: "resume", kind: "resume", ref, execution_id: "e1", input: [1] },
    { request: "status", ref, execution_id: "e1" },
    { request: "follow resume", kind: "resume", ref, execution_id: "e1", input: null },
  ]);
});

test("MCP-8 an idempotency key goes with a run and a start, and has to be what a header holds", async () => {
  const { calls, tools, context, stream } = caller();
  stream.state("COMPLETED", { output: "done" });
  for (const tool of tools.slice(0, 2)) {
    await callTool({ tool, arguments: {}, idempotency_key: "k" }, context);
    for (const wrong of [7, "", "a\r\nb: c", "ключ", " k", "k".repeat(1_025)]) {
      const asked = { tool, arguments: {}, idempotency_key: wrong };
      await expect(callTool(asked, context)).rejects.toMatchObject({ code: "invalid_input" });
    }
  }
  expect(calls.asked).toMatchObject([{ idempotency_key: "k" }, { idempotency_key: "k" }]);
});

test("MCP-9 a run that pauses is answered at once, one that fails is a tool error", async () => {
  const one = caller();
  one.stream.send({ kind: "state", run: pausedRun("input") });
  expect(texts(await one.call("run"))).toContain("call `resume_invoice`");
  const other = caller();
  other.stream.state("FAILED", {
    error: { code: "workflow_failed", message: "broke", details: null },
  } as Partial<ServiceRun>);
  expect(await other.call("run")).toMatchObject({
    isError: true,
    content: [{ text: "broke" }],
    structuredContent: { state: "FAILED" },
  });
});

test("MCP-5 what the engine refuses before anything is written is thrown as it came", async () => {
  const { calls, call } = caller();
  calls.refusal = new EngineError("invalid_input", "body.total: expected a number", {
    details: { issues: [{ path: "body.total", message: "expected a number" }] },
  });
  for (const kind of ["run", "async"] as const) {
    await expect(call(kind)).rejects.toBe(calls.refusal);
  }
});

test("MCP-9 MCP-11 after mcp_sync_timeout the answer is the execution's id and state", async () => {
  const { world, call, stream, calls } = caller();
  stream.state("RUNNING");
  const result = call("run");
  await settled();
  world.pass(50_000);
  expect(texts(await result)).toMatch(/^Execution e1 is RUNNING\. .*`status_invoice`/);
  await stream.left;
  expect(calls.asked).toHaveLength(1);
  expect(world.waiting).toBe(0);
});

test("MCP-11 MCP-12 who is told of progress waits up to sync_timeout", async () => {
  const { world, call, stream } = caller();
  const notes: ProgressNote[] = [];
  const progress = { token: 1, send: (note: ProgressNote) => notes.push(note) };
  stream.state("RUNNING");
  stream.send({ kind: "progress", value: "half" });
  const result = call("run", {}, { progress });
  await settled();
  world.pass(299_999);
  expect(notes[0]).toEqual({ progressToken: 1, progress: 1, message: "half" });
  expect(notes).toHaveLength(30);
  world.pass(1);
  expect(texts(await result)).toContain("Execution e1 is RUNNING");
  expect(world.waiting).toBe(0);
});

test("MCP-11 a sync_timeout of 0 waits as long as it takes", async () => {
  const { world, call, stream } = caller();
  const limits = { mcp_sync_timeout: 50, sync_timeout: 0 };
  const result = call("run", {}, { limits, progress: { token: 1, send: () => {} } });
  await settled();
  world.pass(24 * 3600 * 1000);
  stream.state("COMPLETED", { output: "late" });
  expect(texts(await result)).toBe("late");
});

test("MCP-12 without a token the progress of tasks goes nowhere", async () => {
  const { world, call, stream } = caller();
  stream.send({ kind: "progress", value: "half" });
  stream.state("COMPLETED", { output: "done" });
  expect(texts(await call("run"))).toBe("done");
  expect(world.waiting).toBe(0);
});

test("MCP-13 who cancels a run has its execution cancelled", async () => {
  const { calls, cancelled, call, stream } = caller();
  stream.state("RUNNING");
  const result = call("run");
  await settled();
  cancelled.abort();
  await result;
  expect(calls.asked.at(-1)).toEqual({
    request: "cancel",
    ref: "billing/invoice",
    execution_id: "e1",
  });
});

test("MCP-13 who cancels before the execution is known has it cancelled as soon as it is", async () => {
  const { calls, cancelled, call, stream } = caller();
  const result = call("resume", { execution_id: "e1" });
  cancelled.abort();
  await settled();
  expect(calls.asked).toHaveLength(1);
  stream.state("RESUMING");
  await result;
  expect(calls.asked.at(-1)).toMatchObject({ request: "cancel", execution_id: "e1" });
});

test("MCP-13 who goes away ends only the wait", async () => {
  const { calls, left, call, stream } = caller();
  stream.state("RUNNING");
  const result = call("run");
  await settled();
  left.abort();
  await result;
  await stream.left;
  expect(calls.asked).toHaveLength(1);
});

test("MCP-9 a server that drains leaves the caller with the execution's id", async () => {
  const { call, stream } = caller();
  stream.state("RUNNING");
  stream.send("end");
  expect(texts(await call("run"))).toContain("Execution e1 is RUNNING");
});

test("MCP-9 where nothing was answered in time or at all, the tool error says so", async () => {
  const slow = caller();
  const result = slow.call("run");
  await settled();
  slow.world.pass(50_000);
  expect(texts(await result)).toBe("upstream_timeout: no answer within 50 seconds");
  const cut = caller();
  cut.stream.send("end");
  expect(await cut.call("run")).toMatchObject({
    isError: true,
    structuredContent: { error: { code: "upstream_unreachable" } },
  });
});

test("MCP-9 a connection that breaks later still tells which execution goes on", async () => {
  const { call, stream } = caller();
  stream.state("RUNNING");
  stream.send(new EngineError("unavailable", "the server is away"));
  const result = await call("run");
  expect(result).toMatchObject({ isError: true, structuredContent: { execution_id: "e1" } });
  expect(texts(result)).toMatch(/^unavailable: the server is away\nExecution e1 is RUNNING/);
});

test.each<[ToolKind, Json]>([
  ["run", { wrong: true }],
  ["run", null],
  ["async", 7],
  ["status", 7],
])("MCP-10 an output that is not as declared is an error of the %s tool", async (kind, output) => {
  const { calls, call, stream } = caller();
  calls.answer = runOf({ state: "COMPLETED", output });
  stream.state("COMPLETED", { output });
  const result = await call(kind, kind === "status" ? { execution_id: "e1" } : {});
  expect(result).toMatchObject({ isError: true, structuredContent: { state: "COMPLETED" } });
  expect(texts(result)).toContain("- output: expected a string");
});
