import { EngineError, type ExecutionRecord } from "@engine/contract";
import { expect, expectTypeOf, onTestFinished, test, vi } from "vitest";
import { createClient } from "./client.ts";
import type { FetchRequest } from "./transport.ts";

const record: ExecutionRecord = {
  execution_id: "e1",
  namespace: "default",
  workflow: "hello",
  version: 1,
  name: null,
  state: "COMPLETED",
  input: "World",
  output: "Hello",
  error: null,
  pause: null,
  waiting: [],
  worker: null,
  generation: 1,
  priority: 0,
  parent_id: null,
  parent_call_id: null,
  schedule: null,
  forked_from: null,
  started_by: null,
  run_as: null,
  created_at: "2026-01-01T00:00:00.000Z",
  started_at: null,
  finished_at: null,
  updated_at: "2026-01-01T00:00:00.000Z",
  status_url: "/workflows/default/hello/status/e1",
};

interface Sent extends FetchRequest {
  url: string;
}

/** A client whose server answers everything the same way, and what it was sent. */
function answering(status: number, body: unknown, options: { token?: string; base?: string } = {}) {
  const sent: Sent[] = [];
  const client = createClient({
    baseUrl: options.base ?? "http://engine.test",
    ...(options.token && { token: options.token }),
    fetch: async (url, request) => {
      sent.push({ url, ...request });
      const text = typeof body === "string" ? body : JSON.stringify(body);
      return new Response(status === 204 ? null : text, { status });
    },
  });
  return { client, sent };
}

const run = { params: { ns: "shop", wf: "a b", mode: "sync" as const }, body: { id: 1 } };

function thrown(promise: Promise<unknown>): Promise<EngineError> {
  return promise.then(
    () => expect.unreachable("the call succeeded"),
    (error: EngineError) => error,
  );
}

test("a call becomes the request of its route, every part percent-encoded", async () => {
  const { client, sent } = answering(200, record, { token: "t0", base: "http://engine.test/x/" });
  await client.executions.run({ ...run, query: { detailed: "true", name: "a&b" } });
  expect(sent).toEqual([
    {
      url: "http://engine.test/x/workflows/shop/a%20b/run/sync?detailed=true&name=a%26b",
      method: "POST",
      headers: { authorization: "Bearer t0", "content-type": "application/json" },
      body: '{"id":1}',
    },
  ]);
});

test("NET-6 a token that goes over plain http to another machine is warned of once, before it leaves", async () => {
  const told = async (baseUrl: string, token?: string) => {
    const order: string[] = [];
    const client = createClient({
      baseUrl,
      ...(token !== undefined && { token }),
      warn: (message) => void order.push(message),
      fetch: async () => {
        order.push("sent");
        return Response.json(record);
      },
    });
    expect(order).toEqual([]);
    for (let n = 0; n < 2; n++) await client.executions.status({ params: STATUS });
    return order;
  };
  const STATUS = { ns: "n", wf: "w", id: "e1" };
  const sent = ["sent", "sent"];
  expect(await told("http://engine.example:8000/x", "t0")).toEqual([
    "credentials go to engine.example:8000 over plain http, where others can read them: use https",
    ...sent,
  ]);
  expect(await told("http://10.0.0.1", "t0")).toHaveLength(3);
  expect(await told("http://engine.example:8000")).toEqual(sent);
  expect(await told("https://engine.example", "t0")).toEqual(sent);
  for (const host of ["localhost:8000", "127.0.0.1", "[::1]:8000", "a.localhost"]) {
    expect(await told(`http://${host}`, "t0"), host).toEqual(sent);
  }
});

test("NET-6 without a place of its own the warning is on the console", async () => {
  const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
  onTestFinished(() => warn.mockRestore());
  const { client } = answering(200, record, { token: "t0", base: "http://engine.test" });
  await client.executions.status({ params: { ns: "n", wf: "w", id: "e1" } });
  expect(warn.mock.calls).toEqual([[expect.stringContaining("engine.test over plain http")]]);
  expect(warn.mock.calls.join()).not.toContain("t0");
});

test("lists in a query are repeated, absent values left out, headers sent as given", async () => {
  const { client, sent } = answering(200, {
    items: [],
    total: 0,
    limit: 50,
    offset: 0,
    auth_filtered: false,
  });
  await client.executions.list({ query: { state: ["PAUSED", "RUNNING"], name: undefined } });
  expect(sent[0]?.url).toBe("http://engine.test/executions?state=PAUSED&state=RUNNING");
  const worker = answering(204, "");
  await worker.client.workers.disconnect({
    params: { name: "w" },
    headers: { "x-engine-worker-session": "s" },
  });
  expect(worker.sent[0]?.headers).toEqual({ "x-engine-worker-session": "s" });
});

test("a route with one answer gives its body, one with several the status beside it", async () => {
  const { client } = answering(200, record);
  const status = await client.executions.status({ params: { ns: "n", wf: "w", id: "e1" } });
  expectTypeOf(status).toEqualTypeOf<ExecutionRecord>();
  expect(status).toEqual(record);

  const answer = await client.executions.run(run);
  expectTypeOf(answer.status).toEqualTypeOf<200 | 202 | 409 | 500>();
  expect(answer).toEqual({ status: 200, body: record });

  const ended = await answering(204, "").client.workers.disconnect({ params: { name: "w" } });
  expect(ended).toBeUndefined();
});

test("HOOK-36 what the headers of an answer without a body say is given in its place", async () => {
  const answer = (headers: Record<string, string>) =>
    createClient({
      baseUrl: "http://engine.test",
      fetch: async () => new Response(null, { status: 204, headers }),
    }).hooks.delete({ params: { name: "page" } });
  const told = await answer({ "x-engine-pending-dropped": "3" });
  expect(told).toEqual({ "x-engine-pending-dropped": 3 });
  expectTypeOf(told["x-engine-pending-dropped"]).toEqualTypeOf<number>();
  expect(await thrown(answer({}))).toMatchObject({
    message: expect.stringMatching(/server and client are of the same version/),
  });
});

test("a failed run is a result; an error body under the same status is thrown", async () => {
  const reason = { code: "workflow_failed", message: "no", details: null } as const;
  const failed = { ...record, state: "FAILED", error: reason } as const;
  expect(await answering(500, failed).client.executions.run(run)).toEqual({
    status: 500,
    body: failed,
  });
  const error = { code: "not_paused", message: "no open pause", details: { state: "RUNNING" } };
  const refused = await thrown(answering(409, { error }).client.executions.run(run));
  expect(refused).toBeInstanceOf(EngineError);
  expect(refused).toMatchObject(error);
});

test("a code this client does not know keeps its message and a code of the same status", async () => {
  const error = { code: "quota_exceeded", message: "no more today", details: { limit: 3 } };
  const refused = await thrown(answering(422, { error }).client.executions.run(run));
  expect(refused.code).toBe("invalid_input");
  expect(refused.message).toContain("no more today");
  expect(refused.message).toContain("quota_exceeded");
  expect(refused.details).toMatchObject({ details: { limit: 3 } });
});

test("an answer that is not the engine's says what came and what to check", async () => {
  const page = await thrown(answering(502, "<html>Bad Gateway").client.system.ready());
  expect(page.code).toBe("unavailable");
  expect(page.message).toContain("GET http://engine.test/ready answered 502");
  expect(page.message).toContain("<html>");
  const other = await thrown(answering(200, { status: "fine" }).client.system.ready());
  expect(other.code).toBe("internal");
  expect(other.message).toContain("same version");
});

test("a server that is not there is unavailable, with its URL and the reason", async () => {
  // Port 1 is never listened on.
  const client = createClient({ baseUrl: "http://127.0.0.1:1/prefix" });
  const error = await thrown(client.system.health());
  expect(error.code).toBe("unavailable");
  expect(error.message).toMatch(/^no answer from http:\/\/127\.0\.0\.1:1 \(.+\); check that/);
});

test("a server that speaks no TLS is unavailable, with the reason and no call stack", async () => {
  const reason = Object.assign(new Error("4096F1:error:0A00010B:SSL routines:\n"), {
    reason: "wrong version number",
  });
  const refused = () => Promise.reject(new TypeError("fetch failed", { cause: reason }));
  const client = createClient({ baseUrl: "https://engine.test", fetch: refused });
  const error = await thrown(client.system.health());
  expect(error.message).toMatch(
    /^no answer from https:\/\/engine\.test \(TLS: wrong version number\);/,
  );
});

test("a call the caller ends rejects with the caller's reason", async () => {
  const client = createClient({
    baseUrl: "http://engine.test",
    fetch: async (_, { signal }) => {
      signal?.throwIfAborted();
      return new Response("{}");
    },
  });
  const reason = new Error("enough");
  await expect(client.system.health({}, { signal: AbortSignal.abort(reason) })).rejects.toBe(
    reason,
  );
});

test("a URL or a path segment that would lead elsewhere is refused before anything is sent", async () => {
  expect(() => createClient({ baseUrl: "localhost" })).toThrow(/expected one such as http/);
  const { client, sent } = answering(200, record);
  for (const id of ["", ".", ".."]) {
    const error = await thrown(client.executions.get({ params: { id } }));
    expect(error.message).toContain("id cannot be");
  }
  expect(sent).toEqual([]);
});

test("misuse does not compile", () => {
  const { client } = answering(200, record);
  const misuse = () => [
    // @ts-expect-error the path has parameters
    client.executions.status(),
    // @ts-expect-error the body is the input
    client.executions.run({ params: run.params }),
    // @ts-expect-error no such parameter in the query
    client.executions.list({ query: { colour: "red" } }),
    // @ts-expect-error a route that only streams
    client.workers.connect({ params: { name: "w" }, body: { running: [] } }),
    // @ts-expect-error a route without frames
    client.executions.status.stream,
  ];
  expect(misuse).toBeTypeOf("function");
});
