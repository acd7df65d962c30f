import { EngineError } from "@engine/contract";
import { expect, test } from "vitest";
import { replies, scriptedEngine } from "./testing/scripted-engine.ts";
import {
  WorkflowCancelledError,
  WorkflowFailedError,
  WorkflowPausedError,
} from "./workflow-errors.ts";

const { broken, cancelled, completed, failed, json, paused, refused, running } = replies;

interface Order {
  readonly cart: string;
}
interface Checkout {
  readonly "~input"?: Order;
  readonly "~output"?: { readonly paid: number };
}
const order: Order = { cart: "c1" };

function thrown<E>(promise: Promise<unknown>): Promise<E> {
  return promise.then(
    () => expect.unreachable("the call succeeded"),
    (error: E) => error,
  );
}

test("EXE-90 run starts the workflow with one request, waits for its end and gives the output", async () => {
  const { client, sent } = scriptedEngine(running, completed({ paid: 3 }));
  const checkout = client.workflow<Checkout>("shop/checkout");
  const { paid } = await checkout.run(order, {
    idempotencyKey: "order-17",
    version: 2,
    name: "the first",
  });
  expect(paid).toBe(3);
  expect(sent).toEqual([
    {
      call: "POST /workflows/shop/checkout/run/async?version=2&name=the+first",
      headers: { "idempotency-key": "order-17", "content-type": "application/json" },
      body: { cart: "c1" },
    },
    { call: "GET /executions/e1?mode=sync&timeout=30", headers: {}, body: undefined },
  ]);
});

test("EXE-90 a run whose connection breaks after the start waits on for the same execution", async () => {
  const { client, timing, sent } = scriptedEngine(running, broken, broken, completed({ paid: 3 }));
  const run = client.workflow<Checkout>("shop/checkout").run(order);
  await timing.fire();
  await timing.fire();
  expect(await run).toEqual({ paid: 3 });
  expect(sent.filter(({ call }) => call.startsWith("POST"))).toHaveLength(1);
});

test("EXE-90 a failed workflow is thrown with its failure and its execution", async () => {
  const { client } = scriptedEngine(running, failed);
  const error = await thrown<WorkflowFailedError>(client.workflow("shop/checkout").run(order));
  expect(error).toBeInstanceOf(WorkflowFailedError);
  expect(error).toMatchObject({ executionId: "e1", workflow: "shop/checkout" });
  expect(error.failure).toEqual({
    type: "CardDeclined",
    code: null,
    message: "no funds",
    retryable: false,
    details: { card: "x" },
    cause: null,
    attempts: 3,
    task_call_id: "charge~1",
  });
  expect(error.message).toBe(
    'shop/checkout failed in charge~1 with CardDeclined: no funds (execution e1; "engine execution events e1" prints its log)',
  );
});

test("EXE-90 a cancelled workflow is thrown with the reason", async () => {
  const { client } = scriptedEngine(running, cancelled);
  const error = await thrown<Error>(client.workflow("shop/checkout").run(order));
  expect(error).toBeInstanceOf(WorkflowCancelledError);
  expect(error.message).toContain("shop/checkout was cancelled: changed their mind (execution e1)");
});

test("EXE-90 a paused workflow is thrown with its pause and says how to answer it", async () => {
  const { client } = scriptedEngine(running, paused());
  const error = await thrown<WorkflowPausedError>(client.workflow("shop/checkout").run(order));
  expect(error).toBeInstanceOf(WorkflowPausedError);
  expect(error.executionId).toBe("e1");
  expect(error.pause).toMatchObject({ name: "review", kind: "input", value: "is it right?" });
  expect(error.message).toContain('waits at its pause "review" (execution e1)');
  expect(error.message).toContain(
    'client.workflow("shop/checkout").get("e1").resume(input, { pause: "review" })',
  );

  const approval = scriptedEngine(running, paused("approval")).client.workflow("shop/checkout");
  const undecided = await thrown<Error>(approval.run(order));
  expect(undecided.message).toContain('waits at its approval "review"');
  expect(undecided.message).not.toContain("resume");
});

test("EXE-90 what the server refuses is thrown before there is an execution", async () => {
  const { client, sent } = scriptedEngine(refused(404, "not_found"));
  const error = await thrown<EngineError>(client.workflow("shop/checkout").start(order));
  expect(error).toEqual(new EngineError("not_found", "it is not_found"));
  expect(sent).toHaveLength(1);
});

test("EXE-90 a start without an answer says that it may have happened, and what makes it repeatable", async () => {
  const checkout = (...script: Parameters<typeof scriptedEngine>) =>
    scriptedEngine(...script).client.workflow("shop/checkout");
  const unkeyed = await thrown<EngineError>(checkout(broken).run(order));
  expect(unkeyed.code).toBe("unavailable");
  expect(unkeyed.message).toContain("no answer from http://engine.test (ECONNRESET)");
  expect(unkeyed.message).toContain("shop/checkout may have started or not: look for it before");
  expect(unkeyed.message).toContain("pass an idempotencyKey");
});

test("EXE-80 EXE-90 RIN-1 a start says when it may run, how long it may wait, how urgent it is and where", async () => {
  const { client, sent } = scriptedEngine(running, running);
  const checkout = client.workflow<Checkout>("shop/checkout");
  await checkout.start(order, {
    priority: -3,
    startAt: new Date(0),
    parkTtl: "1.5m",
    preferredWorker: "gpu-1",
    requiredWorker: "gpu-2",
    routingInput: { dataset: "zürich", hot: true },
  });
  await checkout.start(order, { startAt: "2026-11-20T09:00", parkTtl: 0 });
  expect(sent.map(({ call }) => call)).toEqual([
    "POST /workflows/shop/checkout/run/async?priority=-3&start_at=1970-01-01T00%3A00%3A00.000Z&park_ttl=90",
    "POST /workflows/shop/checkout/run/async?start_at=2026-11-20T09%3A00&park_ttl=0",
  ]);
  expect(sent[0]?.headers).toMatchObject({
    "x-engine-preferred-worker": "gpu-1",
    "x-engine-require-worker": "gpu-2",
    // In ASCII: a header holds no other characters.
    "x-engine-routing-input": '{"dataset":"z\\u00fcrich","hot":true}',
  });
  expect(sent[1]?.headers).not.toHaveProperty("x-engine-routing-input");
});

test("EXE-80 EXE-90 a time that is none is refused before anything is sent", async () => {
  const { client, sent } = scriptedEngine();
  const checkout = client.workflow("shop/checkout");
  await expect(checkout.start(order, { parkTtl: -1 })).rejects.toThrow(/parkTtl cannot be -1/);
  const startAt = new Date("soon");
  await expect(checkout.start(order, { startAt })).rejects.toThrow(/startAt is an invalid Date/);
  expect(sent).toEqual([]);
});

test("EXE-90 a run whose result the caller may not read still tells the execution", async () => {
  const { client } = scriptedEngine(running, refused(403, "permission_denied"));
  const error = await thrown<EngineError>(client.workflow("shop/checkout").run(order));
  expect(error.code).toBe("permission_denied");
  expect(error.message).toContain("shop/checkout was started as execution e1");
  expect(error.details).toEqual({ execution_id: "e1" });
});

test("EXE-90 a name alone is one of namespace default; what names no workflow is refused", async () => {
  const { client, sent } = scriptedEngine(running);
  const hello = client.workflow("hello");
  expect(hello.qualifiedName).toBe("default/hello");
  const handle = await hello.start("World");
  expect(sent[0]?.call).toBe("POST /workflows/default/hello/run/async");
  expect(handle).toMatchObject({ executionId: "e1", workflow: "default/hello" });
  for (const name of ["", "/hello", "shop/", "a/b/c", "../hello"]) {
    expect(() => client.workflow(name)).toThrow(/names no workflow; expected "name" or/);
  }
});

test("EXE-48 an input travels in its plain form, whatever JSON.stringify would drop of it", async () => {
  const { client, sent } = scriptedEngine(running, running);
  const checkout = client.workflow("shop/checkout");
  await checkout.start({
    at: new Date(0),
    amounts: new Map([["eur", 10n]]),
    tags: new Set(["a"]),
    none: undefined,
  });
  await checkout.start();
  expect(sent.map(({ body }) => body)).toEqual([
    { at: "1970-01-01T00:00:00.000Z", amounts: { eur: "10" }, tags: ["a"] },
    null,
  ]);
  const refusal = await thrown<EngineError>(checkout.start({ items: [() => 1] }));
  expect(refusal).toMatchObject({
    code: "invalid_input",
    message: "input.items[0] cannot be stored: a function has no stored form",
  });
  expect(sent).toHaveLength(2);
});

test("EXE-90 a handle answers a pause, sends a signal, cancels and renames", async () => {
  const receipt = { execution_id: "e1", name: "paid", seq: 7 };
  const { client, sent } = scriptedEngine(
    running,
    running,
    json(202, receipt),
    running,
    running,
    completed(null),
    completed(null),
  );
  const handle = client.workflow<Checkout>("shop/checkout").get("e1");
  expect((await handle.resume({ ok: true }, { pause: "review" })).state).toBe("RUNNING");
  await handle.resume();
  expect(await handle.signal("paid", { cents: 900 })).toEqual(receipt);
  expect((await handle.cancel({ reason: "too late" })).execution_id).toBe("e1");
  await handle.cancel();
  expect((await handle.rename("the first")).execution_id).toBe("e1");
  await handle.rename(null);
  expect(sent.map(({ call, body }) => [call, body])).toEqual([
    ["POST /workflows/shop/checkout/resume/e1/async?pause=review", { ok: true }],
    ["POST /workflows/shop/checkout/resume/e1/async", null],
    ["POST /executions/e1/signals/paid", { cents: 900 }],
    ["POST /workflows/shop/checkout/cancel/e1", { reason: "too late" }],
    ["POST /workflows/shop/checkout/cancel/e1", null],
    ["PUT /executions/e1/name", { name: "the first" }],
    ["PUT /executions/e1/name", { name: null }],
  ]);
});

test("EXE-90 a handle reads the state of an execution of its own workflow only", async () => {
  const { client, sent } = scriptedEngine(completed("done"));
  const { state } = await client.workflow("shop/checkout").get("e1").status();
  expect(state).toBe("COMPLETED");
  expect(sent[0]?.call).toBe("GET /workflows/shop/checkout/status/e1");
});

test("EXE-90 a handle follows the execution as a stream of frames", async () => {
  const frame = 'event: checkout.execution.completed\nid: 9\ndata: {"state":"COMPLETED"}\n\n';
  const headers = { "content-type": "text/event-stream", "x-engine-execution-id": "e1" };
  const { client, sent } = scriptedEngine(() => new Response(frame, { headers }));
  const frames = await client.workflow("shop/checkout").get("e1").stream();
  const seen = [];
  for await (const { event, id } of frames) seen.push([event, id]);
  expect(seen).toEqual([["checkout.execution.completed", 9]]);
  expect(sent[0]?.call).toBe("GET /executions/e1?mode=stream");
});
