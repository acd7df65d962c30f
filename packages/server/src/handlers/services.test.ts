import { type Json, type ResolvedService, routes, type ServiceRun } from "@engine/contract";
import { createApp } from "@engine/http";
import { expect, test } from "vitest";
import { McpMetadata } from "../services/mcp-metadata.ts";
import { settled } from "../testing/manual-time.ts";
import { silent, TestEngine } from "../testing/start-engine.ts";
import { TwoServers } from "../testing/two-servers.ts";
import { resources } from "./resources.ts";
import { serviceHandlers } from "./services.ts";

/** Source of a workflow that the scripted worker plays. */
const source = (name: string, namespace = "billing", input = "") =>
  `import { workflow } from "@engine/sdk";
import { z } from "zod";
export const it = workflow({ name: "${name}", namespace: "${namespace}"${input} }, async (i) => i);
`;
const CENTS = ", input: z.object({ cents: z.number() })";

interface Headers {
  readonly [name: string]: string;
}

/** The routes of services over a test engine, without a port. */
function http(t: TestEngine) {
  const { handlers, befores } = serviceHandlers({
    engine: t.engine,
    syncTimeout: 300,
    metadata: new McpMetadata({ base: () => "http://engine.test", issuer: undefined }),
    // What it speaks is tried over a real socket.
    mcp: { answer: async () => ({ speak: async (_, response) => void response.end() }) },
  });
  const app = createApp({
    routes: { services: routes.services },
    handlers: { services: handlers },
    befores: { services: befores },
    resources,
    log: silent,
    ids: () => "r",
  });
  const ask = (method: "GET" | "POST" | "PUT" | "DELETE") => {
    return (url: string, body?: Json, headers: Headers = {}) =>
      app.inject({
        ...{ method, url },
        headers: { ...(body !== undefined && { "content-type": "application/json" }), ...headers },
        ...(body !== undefined && { payload: JSON.stringify(body) }),
      });
  };
  const raw = (url: string, payload: string) =>
    app.inject({ method: "POST", url, payload, headers: { "content-type": "application/json" } });
  return { get: ask("GET"), post: ask("POST"), put: ask("PUT"), delete: ask("DELETE"), raw, app };
}

async function started(): Promise<{ t: TestEngine } & ReturnType<typeof http>> {
  const t = await TestEngine.start();
  await register(t, source("invoice", "billing", CENTS));
  const routes = http(t);
  await routes.post("/services", { name: "billing", namespaces: ["billing"] });
  return { t, ...routes };
}

async function register(t: TestEngine, text: string): Promise<void> {
  await t.engine.catalog.register({ source: text }, { by: null });
}

const codeOf = (response: { json(): unknown }) =>
  (response.json() as { error: { code: string; details: Record<string, unknown> } }).error;

const INPUT = { cents: 50 };
const LONG = { timeout: 20_000 };
const NO_LUCK = {
  ...{ type: "Error", code: null, message: "no luck", retryable: false, details: null },
  ...{ cause: null, attempts: 1, task_call_id: null },
};

test("SVC-10 SVC-1 SVC-2 a service is made, with names qualified and each once", async () => {
  await using t = await TestEngine.start();
  const { post, get } = http(t);
  const made = await post("/services", {
    name: "shop-1",
    namespaces: ["a", "b", "a"],
    workflows: ["order", "default/order", "x/y"],
  });
  expect(made.statusCode).toBe(201);
  expect(made.json()).toEqual({
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    ...{ name: "shop-1", description: null, mcp_enabled: false },
    ...{ namespaces: ["a", "b"], workflows: ["default/order", "x/y"], exclusions: [] },
    created_at: expect.stringMatching(/Z$/),
    updated_at: made.json().created_at,
  });
  expect(codeOf(await post("/services", { name: "shop-1" }))).toMatchObject({
    code: "service_exists",
  });
  const list = (await get("/services?limit=1")).json();
  expect(list).toMatchObject({ items: [{ name: "shop-1" }], total: 1, limit: 1, offset: 0 });
});

test.each([
  [{ name: "Bad" }, "body.name"],
  [{ name: "a\n" }, "body.name"],
  [{ name: "x".repeat(65) }, "body.name"],
  [{ name: "ok", workflows: ["a", "b/c", "a/b/c"] }, "body.workflows[2]"],
  [{ name: "ok", namespaces: [".."] }, "body.namespaces[0]"],
  [{ name: "ok", exclusions: [7] }, "body.exclusions[0]"],
  [{ name: "ok", description: "x".repeat(1_001) }, "body.description"],
  [{ name: "ok", mcp_enabled: "yes" }, "body.mcp_enabled"],
  [{ name: "ok", namespace: "a" }, "body.namespace"],
  [{ name: "ok", namespaces: Array.from({ length: 1_001 }, (_, i) => `n${i}`) }, "body.namespaces"],
])("SVC-2 SVC-21 what is malformed is refused by its path (case %#)", async (body, path) => {
  await using t = await TestEngine.start();
  const { post, get } = http(t);
  const refused = await post("/services", body as Json);
  expect(refused.statusCode).toBe(422);
  const { issues } = codeOf(refused).details as { issues: { path: string }[] };
  expect(issues.map((issue) => issue.path)).toContain(path);
  expect((await get("/services")).json().total).toBe(0);
});

test("SVC-13 SVC-22 a change adds and removes; {} changes nothing, a name or a null is refused", async () => {
  const { t, put, get } = await started();
  await using _ = t;
  const before = (await get("/services/billing")).json<ResolvedService>();
  expect((await put("/services/billing", {})).json().updated_at).toBe(before.updated_at);
  const changed = await put("/services/billing", { add_workflows: ["hello"], mcp_enabled: true });
  expect(changed.json()).toMatchObject({ workflows: ["default/hello"], mcp_enabled: true });
  expect((await put("/services/billing", { name: "x" })).statusCode).toBe(422);
  expect((await put("/services/billing", { mcp_enabled: null })).statusCode).toBe(422);
  const unknown = await put("/services/none", {});
  expect([unknown.statusCode, codeOf(unknown).details]).toEqual([404, { resource: "service" }]);
});

test("SVC-12 SVC-7 SVC-23 a service is read with its endpoints; what collides or matches nothing is told", async () => {
  const { t, put, get } = await started();
  await using _ = t;
  await register(t, source("invoice", "old"));
  await register(t, source("mcp"));
  const read = async () => (await get("/services/billing")).json<ResolvedService>();
  expect((await read()).endpoints).toMatchObject([
    {
      ...{ name: "invoice", path: "/services/billing/invoice", ref: "billing/invoice" },
      ...{ namespace: "billing", version: 1, description: null, can_run: true },
      input_schema: { type: "object", required: ["cents"] },
      output_schema: null,
    },
    { name: "mcp", path: "/services/billing/mcp/sync" },
  ]);
  await put("/services/billing", { add_namespaces: ["old", "none"] });
  const collided = await read();
  expect(collided.endpoints.map(({ name }) => name)).toEqual(["mcp"]);
  expect(collided.collisions).toEqual([
    { name: "invoice", refs: ["billing/invoice", "old/invoice"] },
  ]);
  expect(collided.unmatched).toEqual({ namespaces: ["none"], workflows: [], exclusions: [] });
});

test("SVC-23 who knows the service as it is is told that nothing has changed", async () => {
  const { t, get, put } = await started();
  await using _ = t;
  const { headers } = await get("/services/billing");
  const { etag = "" } = headers as { etag?: string };
  const again = (tag: string) => get("/services/billing", undefined, { "if-none-match": tag });
  const same = await again(etag);
  expect([same.statusCode, same.body, same.headers["etag"]]).toEqual([304, "", etag]);
  expect((await again(`"other", W/${etag}`)).statusCode).toBe(304);
  expect((await again('"other"')).statusCode).toBe(200);
  await put("/services/billing", { description: "bills" });
  expect((await again(etag)).statusCode).toBe(200);
  await register(t, source("refund"));
  expect((await again(etag)).statusCode).toBe(200);
});

test("SVC-30 SVC-44 SVC-45 a sync run answers the output as it is, or the detailed form", async () => {
  const { t, post } = await started();
  await using _ = t;
  const worker = await t.worker();
  const answered = post("/services/billing/invoice", INPUT);
  const assigned = await worker.next("assign");
  await worker.started(assigned);
  await worker.completed(assigned, { total: 50 });
  const answer = await answered;
  expect([answer.statusCode, answer.json()]).toEqual([200, { total: 50 }]);
  const { execution_id } = assigned;
  expect(answer.headers).toMatchObject({ "x-engine-execution-id": execution_id });
  expect(answer.headers["location"]).toBeUndefined();

  const detailed = post("/services/billing/invoice/sync?detailed=true", INPUT);
  const next = await worker.next("assign");
  await worker.started(next);
  await worker.completed(next, null);
  expect((await detailed).json()).toEqual({
    ...{ execution_id: next.execution_id, state: "COMPLETED", output: null, version: 1 },
    ...{ namespace: "billing", workflow: "invoice" },
  });
});

test("SVC-47 SVC-45 SVC-32 a run that pauses answers 202 with where to resume it, which gives the output", async () => {
  const { t, post, get } = await started();
  await using _ = t;
  const worker = await t.worker();
  const answered = post("/services/billing/invoice", INPUT);
  const assigned = await worker.next("assign");
  await worker.started(assigned);
  await worker.paused(assigned);
  const answer = await answered;
  const paused = answer.json<ServiceRun & { state: "PAUSED" }>();
  const { execution_id } = assigned;
  expect([answer.statusCode, paused]).toEqual([
    202,
    {
      ...{ execution_id, state: "PAUSED", output: null, version: 1 },
      ...{ namespace: "billing", workflow: "invoice" },
      resume_url: `/services/billing/invoice/resume/${execution_id}`,
      pause: expect.objectContaining({ kind: "input", name: expect.any(String) }),
    },
  ]);
  const status_url = `/services/billing/invoice/status/${execution_id}`;
  expect(answer.headers).toMatchObject({ location: status_url });
  expect((await get(status_url)).json()).toEqual(paused);

  const resumed = await post(`${paused.resume_url}/async`, { ok: true });
  expect([resumed.statusCode, resumed.json()]).toMatchObject([
    202,
    { state: "RESUMING", status_url },
  ]);
  // Of two that resume one wins, and the other changes nothing.
  expect(codeOf(await post(paused.resume_url, 1)).code).toBe("not_paused");
});

test("SVC-45 SVC-46 one that fails is a 500, one that is cancelled a 409, each with what happened", async () => {
  const { t, post, get } = await started();
  await using _ = t;
  const worker = await t.worker();
  const failing = post("/services/billing/invoice?detailed=true", INPUT);
  const assigned = await worker.next("assign");
  await worker.started(assigned);
  await worker.checkpoint(assigned, 3, "FAILED", [
    worker.event(assigned, "WORKFLOW_FAILED", NO_LUCK),
  ]);
  const failed = await failing;
  expect([failed.statusCode, failed.json()]).toMatchObject([
    500,
    {
      ...{ state: "FAILED", output: null, execution_id: assigned.execution_id },
      error: { code: "workflow_failed", message: "no luck", details: { type: "Error" } },
    },
  ]);
  const cancelling = post("/services/billing/invoice", INPUT);
  await settled();
  const next = await worker.next("assign");
  await worker.started(next);
  await t.engine.executions.cancel({ execution_id: next.execution_id, by: null });
  await worker.checkpoint(next, 4, "CANCELLED", [worker.event(next, "WORKFLOW_CANCELLED", null)]);
  const cancelled = await cancelling;
  expect([cancelled.statusCode, cancelled.json()]).toMatchObject([
    409,
    { state: "CANCELLED", error: { code: "workflow_cancelled" } },
  ]);
  const status = await get(`/services/billing/invoice/status/${next.execution_id}`);
  expect([status.statusCode, status.json()]).toEqual([200, cancelled.json()]);
});

test("SVC-31 SVC-45 SVC-51 async answers at once with where to ask", async () => {
  const { t, post } = await started();
  await using _ = t;
  const answer = await post("/services/billing/invoice/async", INPUT);
  const { execution_id } = answer.json<ServiceRun>();
  const status_url = `/services/billing/invoice/status/${execution_id}`;
  expect([answer.statusCode, answer.json()]).toMatchObject([202, { state: "CREATED", status_url }]);
  expect(answer.headers).toMatchObject({
    ...{ location: status_url, "x-engine-execution-id": execution_id },
  });
});

test("SVC-48 at its deadline a sync run answers 202 with where to ask, and goes on", async () => {
  const { t, post } = await started();
  await using _ = t;
  const answered = post("/services/billing/invoice?timeout=2", INPUT);
  await settled();
  await t.time.advance(2_000);
  const answer = await answered;
  const { execution_id } = answer.json<ServiceRun>();
  const status_url = `/services/billing/invoice/status/${execution_id}`;
  expect([answer.statusCode, answer.json()]).toMatchObject([202, { state: "CREATED", status_url }]);
  expect(await t.row(execution_id)).toMatchObject({ state: "CREATED" });
});

test("SVC-52 SVC-53 SVC-44 a stream tells the states as services do, from before any worker to the pause", async () => {
  const { t, post } = await started();
  await using _ = t;
  const answered = post("/services/billing/invoice/stream", INPUT);
  await settled();
  const worker = await t.worker();
  const assigned = await worker.next("assign");
  await worker.started(assigned);
  await worker.paused(assigned);
  const { body, headers } = await answered;
  expect(headers["content-type"]).toMatch(/^text\/event-stream/);
  const frames = body
    .split("\n\n")
    .filter((frame) => frame.startsWith("id:") || /^event:/.test(frame));
  const names = frames.map((frame) => /^event: ?(.*)$/m.exec(frame)?.[1]);
  expect(names).toEqual(
    ["created", "claimed", "running", "paused"].map((word) => `invoice.execution.${word}`),
  );
  const data = frames.map((frame) => JSON.parse(/^data: ?(.*)$/m.exec(frame)?.[1] ?? ""));
  expect(Object.keys(data[0]).sort()).toEqual(
    ["execution_id", "namespace", "output", "state", "version", "workflow"].sort(),
  );
  expect(data.at(-1)).toMatchObject({ state: "PAUSED", resume_url: expect.any(String) });
});

test("SVC-54 SVC-35 a stream that is attached to stays open at a pause and ends behind the last state", async () => {
  const { t, post, get } = await started();
  await using _ = t;
  const worker = await t.worker();
  await post("/services/billing/invoice/async", INPUT);
  const assigned = await worker.next("assign");
  await worker.started(assigned);
  await worker.paused(assigned);
  const attached = get(`/services/billing/invoice/stream/${assigned.execution_id}`);
  await settled();
  await post(`/services/billing/invoice/resume/${assigned.execution_id}/async`, "yes");
  await worker.completed(await worker.next("assign"), { total: 50 });
  const names = [...(await attached).body.matchAll(/^event: ?(.*)$/gm)].map(([, name]) => name);
  expect(names[0]).toBe("invoice.execution.paused");
  expect(names.at(-1)).toBe("invoice.execution.completed");
});

test("SVC-42 SVC-37 SVC-38 what is wrong with a run is told before anything is written", async () => {
  const { t, post, raw } = await started();
  await using _ = t;
  const path = "/services/billing/invoice";
  const refused = await post(path, { cents: "50" });
  expect(refused.statusCode).toBe(422);
  expect(codeOf(refused).details).toMatchObject({ issues: [{ path: "body.cents" }] });
  expect((await raw(path, "{")).statusCode).toBe(400);
  const query = await post(`${path}?version=0`, INPUT);
  expect(codeOf(query).details).toMatchObject({ issues: [{ path: "query.version" }] });
  expect((await post(`${path}?events=all`, INPUT)).statusCode).toBe(422);
  const mode = await post(`${path}/soon`, INPUT);
  expect([mode.statusCode, codeOf(mode).details]).toMatchObject([
    400,
    { allowed: ["sync", "async", "stream"] },
  ]);
  const page = { order: "created_asc", limit: 10, offset: 0 } as const;
  expect((await t.engine.executions.list(page)).total).toBe(0);
});

test("SVC-39 what the path names is looked for before the body is read, in its order", async () => {
  const { t, raw, post, get } = await started();
  await using _ = t;
  const missing = (response: { statusCode: number; json(): unknown }) => {
    return [response.statusCode, codeOf(response).details["resource"]];
  };
  expect(missing(await raw("/services/none/invoice", "{"))).toEqual([404, "service"]);
  expect(missing(await raw("/services/billing/none", "{"))).toEqual([404, "workflow"]);
  const version = await post("/services/billing/invoice?version=9", INPUT);
  expect(missing(version)).toEqual([404, "version"]);
  for (const id of ["none", "01900000-0000-7000-8000-000000000001"]) {
    const path = `/services/billing/invoice`;
    expect(missing(await post(`${path}/resume/${id}`, 1))).toEqual([404, "execution"]);
    expect(missing(await get(`${path}/status/${id}`))).toEqual([404, "execution"]);
    expect(missing(await get(`${path}/stream/${id}`))).toEqual([404, "execution"]);
  }
});

test("SVC-40 what is excluded or deleted is gone for callers, its executions stay readable elsewhere", async () => {
  const { t, post, put, get } = await started();
  await using _ = t;
  const { execution_id } = (await post("/services/billing/invoice/async", INPUT)).json();
  const status = `/services/billing/invoice/status/${execution_id}`;
  // That of another workflow is not found here.
  await register(t, source("refund"));
  expect((await get(status.replace("invoice", "refund"))).statusCode).toBe(404);
  await put("/services/billing", { add_exclusions: ["billing/invoice"] });
  expect((await get(status)).statusCode).toBe(404);
  expect((await post("/services/billing/invoice", INPUT)).statusCode).toBe(404);
  await put("/services/billing", { remove_exclusions: ["billing/invoice"] });
  expect((await get(status)).statusCode).toBe(200);
  await t.engine.catalog.delete("billing", "invoice");
  expect((await get(status)).statusCode).toBe(404);
  expect(await t.row(execution_id)).toMatchObject({ state: "CREATED" });
});

test("SVC-14 SVC-24 a deleted service answers 404 and touches no execution", async () => {
  const { t, post, get, delete: remove } = await started();
  await using _ = t;
  const { execution_id } = (await post("/services/billing/invoice/async", INPUT)).json();
  expect((await remove("/services/billing")).statusCode).toBe(204);
  expect((await remove("/services/billing")).statusCode).toBe(404);
  expect((await get(`/services/billing/invoice/status/${execution_id}`)).statusCode).toBe(404);
  expect((await post("/services/billing/invoice", INPUT)).statusCode).toBe(404);
  expect(await t.row(execution_id)).toMatchObject({ state: "CREATED" });
});

test("SVC-41 a version that is asked for runs, and goes on as that version", async () => {
  const { t, post } = await started();
  await using _ = t;
  await register(t, source("invoice", "billing"));
  const first = await post("/services/billing/invoice/async?version=1", INPUT);
  expect(first.json()).toMatchObject({ version: 1 });
  // Only version 1 wants cents.
  expect((await post("/services/billing/invoice/async?version=1", {})).statusCode).toBe(422);
  expect((await post("/services/billing/invoice/async", {})).json()).toMatchObject({ version: 2 });
});

test("SVC-55 SVC-56 SVC-57 a key starts once, whichever route it comes by", async () => {
  const { t, post } = await started();
  await using _ = t;
  const key = { "idempotency-key": "i1" };
  const first = await post("/services/billing/invoice/async", INPUT, key);
  const again = await post("/services/billing/invoice/async", INPUT, key);
  expect(again.headers["idempotency-replayed"]).toBe("true");
  expect(again.json()).toEqual(first.json());
  const other = await post("/services/billing/invoice/async", { cents: 1 }, key);
  expect([other.statusCode, codeOf(other).code]).toEqual([422, "idempotency_mismatch"]);
});

test("SVC-49 who leaves ends the wait alone, unless the execution was to be cancelled then", async () => {
  const { t, app } = await started();
  await using _ = t;
  const address = await app.listen({ port: 0, host: "127.0.0.1" });
  const page = { order: "created_desc", limit: 1, offset: 0 } as const;
  const newest = async () => (await t.engine.executions.list(page)).items[0]?.execution_id;
  const leave = async (query: string): Promise<string> => {
    const before = await newest();
    const left = new AbortController();
    const answer = fetch(`${address}/services/billing/invoice${query}`, {
      ...{ method: "POST", body: JSON.stringify(INPUT), signal: left.signal },
      headers: { "content-type": "application/json" },
    });
    await expect.poll(newest, LONG).not.toBe(before);
    left.abort();
    await expect(answer).rejects.toThrow("aborted");
    return (await newest()) ?? "";
  };
  const kept = await leave("");
  const cancelled = await leave("?cancel_on_disconnect=true");
  await expect.poll(async () => (await t.row(cancelled)).state, LONG).toBe("CANCELLED");
  expect(await t.row(kept)).toMatchObject({ state: "CREATED", cancelling: null });
  await app.close();
});

test("SVC-43 a resume is refused as that of the resume route is, and changes nothing", async () => {
  const { t, post } = await started();
  await using _ = t;
  const worker = await t.worker();
  const { execution_id } = (await post("/services/billing/invoice/async", INPUT)).json();
  const resume = `/services/billing/invoice/resume/${execution_id}`;
  const running = await post(resume, 1);
  expect([running.statusCode, codeOf(running).code]).toEqual([409, "not_paused"]);
  const assigned = await worker.next("assign");
  await worker.paused(assigned);
  const [one, other] = await Promise.all([post(`${resume}/async`, 1), post(`${resume}/async`, 2)]);
  expect([one.statusCode, other.statusCode].sort()).toEqual([202, 409]);
  await worker.completed(await worker.next("assign"), 7);
  const finished = await post(resume, 1);
  expect([finished.statusCode, codeOf(finished).code]).toEqual([409, "execution_finished"]);
  const types = await t.types(execution_id);
  expect(types.filter((type) => type === "WORKFLOW_RESUMING")).toHaveLength(1);
});

test("SVC-50 a run that ends on another server answers who waits on this one", async () => {
  await using servers = await TwoServers.start();
  await register(servers.a, source("invoice"));
  const { post } = http(servers.a);
  await post("/services", { name: "billing", namespaces: ["billing"] });
  const worker = await servers.b.worker();
  const answered = post("/services/billing/invoice", INPUT);
  await settled();
  await servers.time.advance(20);
  await worker.completed(await worker.next("assign"), { total: 50 });
  await servers.time.advance(20);
  expect((await answered).json()).toEqual({ total: 50 });
});

test("SVC-6 SVC-61 requests for a name that collides are 409 with what it stands for, all others work", async () => {
  const { t, post, put } = await started();
  await using _ = t;
  await register(t, source("invoice", "old"));
  await register(t, source("refund", "old"));
  await put("/services/billing", { add_namespaces: ["old"] });
  const refused = await post("/services/billing/invoice/async", INPUT);
  expect([refused.statusCode, codeOf(refused)]).toMatchObject([
    409,
    {
      code: "name_collision",
      details: { name: "invoice", refs: ["billing/invoice", "old/invoice"] },
    },
  ]);
  expect((await post("/services/billing/refund/async", INPUT)).statusCode).toBe(202);
  await put("/services/billing", { add_exclusions: ["old/invoice"] });
  const cleared = await post("/services/billing/invoice/async", INPUT);
  expect([cleared.statusCode, cleared.json().namespace]).toEqual([202, "billing"]);
  const taken = await post("/services", { name: "billing" });
  expect([taken.statusCode, codeOf(taken).code]).toEqual([409, "service_exists"]);
});
