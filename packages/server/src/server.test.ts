import { mkdtempSync, renameSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type BasicExecution,
  Config,
  type ErrorBody,
  type ExecutionRecord,
  type InspectedExecution,
  type Json,
  type WorkerFrame,
  type WorkerRegistered,
} from "@engine/contract";
import { openSqliteStore } from "@engine/store";
import { expect, onTestFinished, test } from "vitest";
import { type Server, startServer } from "./server.ts";
import { registration, ScriptedWorker } from "./testing/scripted-worker.ts";
import { HELLO, silent } from "./testing/start-engine.ts";

/** A server on a free port of this machine, with `hello` registered. */
class HttpServer implements AsyncDisposable {
  readonly server: Server;
  readonly #end: () => Promise<void>;

  constructor(server: Server, end: () => Promise<void>) {
    this.server = server;
    this.#end = end;
  }

  static async start(path = ":memory:"): Promise<HttpServer> {
    const store = await openSqliteStore({
      path,
      synchronous: "normal",
      clock: Date.now,
    });
    const config = Config.parse({ server: { port: 0 } });
    const server = await startServer({ config, store, log: silent, version: "1.2.3" });
    const started = new HttpServer(server, async () => {
      await server.close();
      await store.close();
    });
    await started.post("/workflows", { source: HELLO });
    return started;
  }

  /** A worker in the server's process that answers every execution with its input. */
  async echo(): Promise<ScriptedWorker> {
    const worker = new ScriptedWorker("w", this.server.workers, Date.now);
    await worker.register();
    await worker.connect();
    void (async () => {
      while (true) {
        const assigned = await worker.next("assign");
        if (assigned.input === "pause") await worker.paused(assigned);
        else if (assigned.input === "fail") await fail(worker, assigned);
        else await worker.completed(assigned, assigned.input);
      }
    })();
    return worker;
  }

  get(path: string): Promise<Response> {
    return fetch(this.server.url + path);
  }

  post(path: string, body: Json, headers: Record<string, string> = {}): Promise<Response> {
    return fetch(this.server.url + path, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end();
  }
}

interface List {
  readonly items: readonly Record<string, unknown>[];
  readonly total: number;
}

async function json<Body>(response: Response): Promise<Body> {
  return (await response.json()) as Body;
}

async function fail(worker: ScriptedWorker, assigned: Parameters<ScriptedWorker["started"]>[0]) {
  const failure = {
    type: "Error",
    code: null,
    message: "no luck",
    retryable: false,
    details: null,
    cause: null,
    attempts: 1,
    task_call_id: null,
  };
  await worker.checkpoint(assigned, assigned.head, "FAILED", [
    worker.event(assigned, "WORKFLOW_STARTED", null),
    worker.event(assigned, "WORKFLOW_FAILED", failure),
  ]);
}

test("EXE-81 a sync run answers 200 with the record and names the execution in a header", async () => {
  await using http = await HttpServer.start();
  await http.echo();
  const response = await http.post("/workflows/default/hello/run/sync", { who: "World" });
  expect(response.status).toBe(200);
  const record = await json<ExecutionRecord>(response);
  expect(record).toMatchObject({ state: "COMPLETED", output: { who: "World" }, error: null });
  expect(response.headers.get("x-engine-execution-id")).toBe(record.execution_id);
});

test("EXE-81 an async run answers 202 with the address of its status", async () => {
  await using http = await HttpServer.start();
  const response = await http.post("/workflows/hello/run/async?name=nightly", null);
  expect(response.status).toBe(202);
  const record = await json<ExecutionRecord>(response);
  expect(record).toMatchObject({ state: "CREATED", name: "nightly", output: null });
  const location = `/workflows/default/hello/status/${record.execution_id}`;
  expect(response.headers.get("location")).toBe(location);
  expect(await (await http.get(location)).json()).toMatchObject({ state: "CREATED" });
});

test("EXE-81 an async run is told as CREATED even when a free worker took it in the same commit", async () => {
  await using http = await HttpServer.start();
  await http.echo();
  const response = await http.post("/workflows/hello/run/async", null);
  expect(await response.json()).toMatchObject({ state: "CREATED", worker: null, generation: 0 });
});

test("EXE-81 a failed run answers 500 with its error, a paused one 202 with its pause", async () => {
  await using http = await HttpServer.start();
  await http.echo();
  const failed = await http.post("/workflows/hello/run/sync", "fail");
  expect(failed.status).toBe(500);
  expect(await failed.json()).toMatchObject({
    state: "FAILED",
    error: { code: "workflow_failed", message: "no luck", details: { type: "Error" } },
  });
  const paused = await http.post("/workflows/hello/run/sync", "pause");
  expect(paused.status).toBe(202);
  const record = await json<ExecutionRecord>(paused);
  expect(record).toMatchObject({
    state: "PAUSED",
    pause: { name: "answer", kind: "input", value: "what?", task_call_id: "pause~1" },
    waiting: [{ kind: "pause", name: "answer" }],
    resume_url: `/workflows/default/hello/resume/${record.execution_id}`,
  });
});

test("EXE-79 an unknown mode is 400, an unknown workflow 404", async () => {
  await using http = await HttpServer.start();
  const mode = await http.post("/workflows/hello/run/soon", null);
  expect([mode.status, (await json<ErrorBody>(mode)).error.code]).toEqual([400, "bad_request"]);
  const unknown = await http.post("/workflows/nobody/run/sync", null);
  expect([unknown.status, (await json<ErrorBody>(unknown)).error.details]).toEqual([
    404,
    { resource: "workflow" },
  ]);
});

test("EXE-91 a streamed run brings its states as server-sent events", async () => {
  await using http = await HttpServer.start();
  await http.echo();
  const response = await http.post("/workflows/hello/run/stream", 1);
  const text = await response.text();
  const events = [...text.matchAll(/^event: (.*)$/gm)].map(([, name]) => name);
  expect(events).toEqual([
    "hello.execution.created",
    "hello.execution.claimed",
    "hello.execution.running",
    "hello.execution.completed",
  ]);
  expect([...text.matchAll(/^id: (.*)$/gm)].map(([, id]) => id)).toEqual(["1", "2", "3", "4"]);
});

test("EXE-89 the basic API runs, resumes and inspects", async () => {
  await using http = await HttpServer.start();
  await http.echo();
  const paused = await http.post("/hello", "pause");
  expect(paused.status).toBe(202);
  const { execution_id } = await json<BasicExecution>(paused);
  const inspected = await json<InspectedExecution>(await http.get(`/inspect/${execution_id}`));
  expect(inspected).toMatchObject({ name: "hello", label: null, state: "PAUSED" });
  expect(inspected.events).toHaveLength(6);

  const other = await http.post(`/goodbye/${execution_id}`, 1);
  expect(other.status).toBe(404);
  const done = await http.post("/hello?inspect=true", { a: 1 });
  expect(await done.json()).toMatchObject({ name: "hello", output: { a: 1 }, state: "COMPLETED" });
  const plain = await json<BasicExecution>(await http.post("/hello", 2));
  expect(Object.keys(plain)).toEqual(["execution_id", "name", "input", "output"]);
});

test("EXE-85 executions are listed without values, and their events by pages", async () => {
  await using http = await HttpServer.start();
  await http.echo();
  const { execution_id } = await json<BasicExecution>(await http.post("/hello", 1));
  const list = await json<List>(await http.get("/executions?state=completed&limit=10"));
  expect(list).toMatchObject({ total: 1, limit: 10, offset: 0, items: [{ execution_id }] });
  expect(Object.keys(list.items[0] ?? {})).not.toContain("input");
  const detailed = await http.get(`/executions/${execution_id}?detailed=true`);
  expect((await json<ExecutionRecord>(detailed)).events).toHaveLength(4);
  const page = await json<List>(
    await http.get(`/executions/${execution_id}/events?after=2&limit=1`),
  );
  const recorded_at = expect.stringMatching(/^\d{4}-.*Z$/);
  expect(page).toMatchObject({ total: 4, offset: 2, items: [{ seq: 3, recorded_at }] });
});

test("EXE-64 a file with issues is refused with all of them, and nothing is registered", async () => {
  await using http = await HttpServer.start();
  const source = `import { workflow } from "@engine/sdk";
import { x } from "left-pad";
const n = Math.random();
export const a = workflow({ name: "a", description: n }, async () => x);
`;
  const response = await http.post("/workflows", { source });
  expect(response.status).toBe(422);
  const { error } = await json<ErrorBody>(response);
  const issues = error.details?.["issues"] as { rule: string; line: number }[];
  expect(issues.map(({ rule, line }) => [rule, line])).toEqual([
    ["unresolved_import", 2],
    ["not_static", 3],
  ]);
  expect((await http.get("/workflows/default/a")).status).toBe(404);
});

test("EXE-67 equal content makes no new version; a dry run makes none at all", async () => {
  await using http = await HttpServer.start();
  const again = await http.post("/workflows", { source: HELLO });
  expect(again.status).toBe(200);
  expect(await again.json()).toMatchObject({ items: [{ version: 1, created: false }] });
  const changed = { source: HELLO.replace("=> input", "=> 2") };
  const dry = await http.post("/workflows?dry_run=true", changed);
  expect(dry.status).toBe(200);
  expect(await dry.json()).toMatchObject({ items: [{ version: 2, created: true }] });
  const real = await http.post("/workflows", changed);
  expect(real.status).toBe(201);
  expect(await real.json()).toMatchObject({ items: [{ version: 2, created: true }] });
  const versions = await json<List>(await http.get("/workflows/default/hello/versions"));
  expect(versions.items.map(({ version }) => version)).toEqual([2, 1]);
  const old = await http.get("/workflows/default/hello/versions/1?source=true");
  expect((await json<{ files: unknown }>(old)).files).toEqual([
    { path: "workflow.ts", source: HELLO },
  ]);
  const run = await json<ExecutionRecord>(await http.post("/workflows/hello/run/async", null));
  expect(run.version).toBe(2);
});

test("WRK-6 a worker behind HTTP registers, gets its work by stream and checkpoints it", async () => {
  await using http = await HttpServer.start();
  const registered = await http.post("/workers/register", registration("remote") as Json);
  expect(registered.status).toBe(201);
  const { session } = await json<WorkerRegistered>(registered);
  const headers = { "x-engine-worker-session": session };
  const connected = await http.post("/workers/remote/connect", { running: [] }, headers);
  const frames = framesOf(connected);
  expect((await frames.next()).value).toMatchObject({ event: "welcome" });
  const answer = http.post("/hello", "x");
  const { value } = await frames.next();
  if (value?.event !== "assign") throw new Error("expected an assignment");
  const { execution_id, head } = value.data;
  const worker = new ScriptedWorker("remote", http.server.workers, Date.now);
  const checkpoint = await http.post(
    `/checkpoint/${execution_id}`,
    {
      generation: 1,
      base_seq: head,
      state: "COMPLETED",
      events: [
        worker.event(value.data, "WORKFLOW_STARTED", null),
        worker.event(value.data, "WORKFLOW_COMPLETED", "y"),
      ] as Json[],
    },
    headers,
  );
  expect(await checkpoint.json()).toMatchObject({ seq: 4, state: "COMPLETED" });
  expect(await (await answer).json()).toMatchObject({ output: "y" });
  const bye = await http.post("/workers/remote/disconnect", null, headers);
  expect(bye.status).toBe(204);
  expect((await frames.next()).done).toBe(true);
});

async function* framesOf(response: Response): AsyncGenerator<WorkerFrame, void> {
  let text = "";
  for await (const chunk of response.body ?? []) {
    text += new TextDecoder().decode(chunk);
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      const [, event, data] = /^event: (.*)\ndata: (.*)$/m.exec(text.slice(0, end)) ?? [];
      text = text.slice(end + 2);
      if (event && data) yield { event, data: JSON.parse(data) } as WorkerFrame;
    }
  }
}

test("the server says that it is healthy and describes itself", async () => {
  await using http = await HttpServer.start();
  expect(await (await http.get("/health")).json()).toEqual({
    status: "healthy",
    database: "sqlite",
    version: "1.2.3",
  });
  expect(await (await http.get("/ready")).json()).toEqual({ status: "ready" });
  expect(await (await http.get("/openapi.json")).json()).toMatchObject({ openapi: "3.1.0" });
});

test("EXE-81 a stopping server answers its waits and ends its streams", async () => {
  const http = await HttpServer.start();
  const stream = await http.post("/workflows/hello/run/stream", null);
  const sync = http.post("/workflows/hello/run/sync", null);
  while ((await json<List>(await http.get("/executions"))).total < 2);
  await http[Symbol.asyncDispose]();
  expect((await sync).status).toBe(202);
  expect(await stream.text()).not.toContain("completed");
});

test("a port that is taken is one clear line naming it", async () => {
  const blocker = createServer();
  await new Promise<void>((resolve) => blocker.listen(0, "127.0.0.1", resolve));
  const { port } = blocker.address() as { port: number };
  const store = await openSqliteStore({ path: ":memory:", synchronous: "normal", clock: Date.now });
  const config = Config.parse({ server: { port } });
  await expect(startServer({ config, store, log: silent, version: "0" })).rejects.toMatchObject({
    code: "conflict",
    message: `127.0.0.1:${port} is in use by another process; choose another port with --port`,
  });
  await store.close();
  await new Promise((resolve) => blocker.close(resolve));
});

test("a server whose database file is taken away is not ready and acknowledges nothing, until it is back", async () => {
  const folder = mkdtempSync(join(tmpdir(), "engine-server-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "engine.db");
  await using http = await HttpServer.start(path);
  const run = () => http.post("/workflows/hello/run/async", "World");
  expect((await run()).status).toBe(202);
  expect((await http.get("/ready")).status).toBe(200);
  renameSync(path, `${path}.off`);
  await expect.poll(async () => (await http.get("/ready")).status).toBe(503);
  const refused = await run();
  expect(refused.status).toBe(503);
  const { error } = (await refused.json()) as ErrorBody;
  expect(error).toMatchObject({ code: "unavailable" });
  expect(error.message).toContain("deleted or replaced");
  expect(JSON.stringify(error)).not.toContain(folder);
  // It answers, and what it has can be read.
  expect((await http.get("/health")).status).toBe(200);
  renameSync(`${path}.off`, path);
  expect((await http.get("/ready")).status).toBe(200);
  expect((await run()).status).toBe(202);
});
