import { readFile, stat } from "node:fs/promises";
import type { ExecutionRecord } from "@engine/contract";
import { expect, test } from "vitest";
import { CliProcess } from "../harness/cli-process.ts";
import { type Engine, startEngine } from "../harness/engine.ts";
import { fixture } from "../harness/engine-access.ts";
import { accountOf, asAdmin, GUARDED, joining, secretIn } from "../harness/guarded.ts";
import { createHome } from "../harness/home.ts";
import { Http } from "../harness/http.ts";
import { until } from "../harness/until.ts";

const STORES = ["sqlite", "postgres"] as const;

async function adminKey({ home }: Engine): Promise<string> {
  expect((await stat(home.file(".engine/admin-key"))).mode & 0o777).toBe(0o600);
  return secretIn(home, "admin-key");
}

async function register(admin: Http, name: string): Promise<void> {
  const source = await readFile(fixture(name), "utf8");
  const { status, body } = await admin.post("/workflows", { source });
  if (status !== 201) throw new Error(`${name} was not registered: ${JSON.stringify(body)}`);
}

const RUN_HELLO = "/workflows/default/hello_world/run/sync";

test.each(STORES)(
  "AUTH-4 AUTH-9 AUTH-10 on %s one switch makes an admin, who makes a viewer, who reads and cannot run",
  async (store) => {
    await using engine = await startEngine({ store, workers: [], env: GUARDED });
    const { url } = engine;
    const admin = await adminKey(engine);
    const printed = engine.server.output;
    expect(printed).not.toContain(admin);
    expect(printed).not.toContain("authentication is off");

    const viewer = new Http(url, await accountOf(await asAdmin(engine), "bot", "viewer"));
    expect((await viewer.get("/executions")).status).toBe(200);
    const refused = await viewer.post("/workflows/default/hello/run/async", "x");
    expect(refused).toMatchObject({
      status: 403,
      body: {
        error: {
          code: "permission_denied",
          details: { missing_permissions: ["workflow:default:hello:run"] },
        },
      },
    });
    expect(await engine.http.get("/executions")).toMatchObject({
      status: 401,
      body: { error: { code: "unauthenticated", details: { reason: "missing" } } },
    });
    expect((await new Http(url, "nonsense").get("/health")).status).toBe(200);

    // The key and the admin outlive the process.
    await engine.server.kill();
    engine.startServerAgain();
    await engine.server.printed(/http:\/\/[\w.]+:\d+/);
    expect(await adminKey(engine)).toBe(admin);
    expect((await viewer.get("/auth/whoami")).body).toMatchObject({
      subject: "bot",
      roles: ["viewer"],
    });
  },
);

test.each(STORES)(
  "AUTH-4 AUTH-10 AUTH-22 AUTH-50 on %s a worker with the bootstrap token runs what the admin starts, which a viewer reads",
  async (store) => {
    await using engine = await startEngine({ store, workers: [], env: GUARDED });
    const { home, url } = engine;
    const admin = await asAdmin(engine);
    await register(admin, "hello");
    // Without a token nobody joins, and says so.
    const stranger = engine.startWorker("stranger");
    const { code } = await stranger.result();
    expect([code, stranger.output]).toEqual([1, expect.stringContaining("credential")]);

    const worker = engine.startWorker("one", await joining(home));
    const ran = await admin.post<ExecutionRecord>(RUN_HELLO, "you");
    const first = { subject: "admin", issuer: "engine", type: "service_account" };
    expect(ran.body).toMatchObject({ state: "COMPLETED", output: "Hello, you!" });
    expect(ran.body).toMatchObject({ started_by: first, run_as: first });
    expect((await stat(home.file(".engine/workers/one/credential"))).mode & 0o777).toBe(0o600);

    const viewer = new Http(url, await accountOf(admin, "reader", "viewer"));
    const { execution_id } = ran.body;
    expect((await viewer.get(`/executions/${execution_id}`)).body).toMatchObject({
      output: "Hello, you!",
    });
    const missing_permissions = [
      "workflow:default:hello_world:run",
      "workflow:default:hello_world:task:greet:execute",
    ];
    expect(await viewer.post(RUN_HELLO, "me")).toMatchObject({
      status: 403,
      body: { error: { code: "permission_denied", details: { missing_permissions } } },
    });
    expect((await engine.http.post(RUN_HELLO, "me")).status).toBe(401);

    // Nothing of what proves anybody is printed.
    const secrets = await Promise.all([
      secretIn(home, "admin-key"),
      secretIn(home, "bootstrap-token"),
      readFile(home.file(".engine/workers/one/credential"), "utf8"),
    ]);
    for (const secret of secrets) {
      expect(engine.server.output).not.toContain(secret.trim());
      expect(worker.output).not.toContain(secret.trim());
    }

    // A worker that was let in needs its token no more.
    await worker.stop();
    engine.startWorker("one");
    const again = await admin.post<ExecutionRecord>(RUN_HELLO, "again");
    expect(again.body).toMatchObject({ state: "COMPLETED", output: "Hello, again!" });

    // Who is disabled or banned is refused with the next request.
    const refused = (reason: string) => ({ status: 401, body: { error: { details: { reason } } } });
    await admin.post("/admin/principals/reader/disable");
    expect(await viewer.get("/executions")).toMatchObject(refused("disabled"));
    await admin.post("/admin/principals/reader/enable");
    expect((await viewer.get("/executions")).status).toBe(200);
    await admin.post("/admin/principals/reader/ban");
    expect(await viewer.get("/executions")).toMatchObject(refused("invalid"));
  },
);

test("AUTH-39 AUTH-43 AUTH-44 AUTH-55 a task's token reaches its execution and what that starts, whatever the admin may do", async () => {
  await using engine = await startEngine({ workers: [], env: GUARDED });
  const { home, url } = engine;
  const admin = await asAdmin(engine);
  await register(admin, "self-calling");
  const worker = engine.startWorker("one", await joining(home));
  const run = (workflow: string, input?: unknown) =>
    admin.post<ExecutionRecord>(`/workflows/default/${workflow}/run/sync`, input);
  const other = (await run("quiet")).body.execution_id;
  const { body } = await run("self_calling", { url, other });
  const allowed = (status: number, id: unknown) => ({ status, id });
  const refused = { status: 403, reason: "execution_token_scope" };
  expect(body.output).toMatchObject({
    own: allowed(200, body.execution_id),
    child: allowed(202, expect.any(String)),
    ofChild: { status: 200 },
    ...{ other: refused, list: refused, principals: refused },
    seen: [],
  });
  const { child } = body.output as { child: { id: string } };
  expect((await admin.get(`/executions/${child.id}`)).body).toMatchObject({
    parent_id: body.execution_id,
    started_by: { subject: "admin" },
    run_as: { subject: "admin" },
  });
  // The token is nowhere in what is kept or printed.
  const history = await admin.get(`/executions/${body.execution_id}?detailed=true`);
  for (const text of [JSON.stringify(history.body), engine.server.output, worker.output]) {
    expect(text).not.toContain("engine_et_");
  }
});

test.each(STORES)(
  "AUTH-22 AUTH-51 AUTH-58 on %s what a worker holds goes to another one when it is banned",
  async (store) => {
    await using engine = await startEngine({ store, workers: [], env: GUARDED });
    const { home } = engine;
    const admin = await asAdmin(engine);
    await register(admin, "held");
    const one = engine.startWorker("one", await joining(home));
    const file = home.file("open");
    const { body } = await admin.post<ExecutionRecord>("/workflows/default/held/run/async", file);
    const isAt = (worker: string) => async () => {
      const record = (await admin.get<ExecutionRecord>(`/executions/${body.execution_id}`)).body;
      return record.worker === worker && record.state === "RUNNING";
    };
    await until("it runs on the first worker", isAt("one"));
    engine.startWorker("two", await joining(home));
    expect((await admin.post("/admin/principals/one/ban", { reason: "left" })).status).toBe(200);
    await until("it runs on the second worker", isAt("two"));
    await one.exited;
    expect([one.exitCode, one.output]).toEqual([1, expect.stringContaining("banned")]);
    await home.write("open", "");
    const settled = await admin.get<ExecutionRecord>(`/executions/${body.execution_id}?mode=sync`);
    expect(settled.body).toMatchObject({ state: "COMPLETED", generation: 2 });
    // It is not let in again by the same token.
    const back = await engine.startWorker("one", await joining(home)).result();
    expect(back.code).toBe(1);
  },
);

test("AUTH-2 without the switch everything is open, and one warning says so with the address", async () => {
  await using engine = await startEngine({ workers: [] });
  const { url, server } = engine;
  expect((await new Http(url, "nonsense").get("/executions")).status).toBe(200);
  expect(server.output.match(/authentication is off: whoever reaches [\d.]+:\d+/g)).toHaveLength(1);
});

test("AUTH-3 a contradiction ends the start with a line for each problem, and no port is bound", async () => {
  await using home = await createHome();
  const env = {
    ENGINE_HOME: home.file(".engine"),
    ENGINE_SECURITY__AUTH__OIDC__ENABLED: "true",
    ENGINE_SECURITY__AUTH__OIDC__ISSUER: "http://id.example",
  };
  const args = ["start", "server", "--port", "0"];
  const { code, stderr } = await new CliProcess(args, { cwd: home.path, env }).result();
  expect(code).toBe(1);
  expect(stderr).toMatch(/oidc\.audience: needed/);
  expect(stderr).toMatch(/oidc\.issuer: expected an https URL/);
  expect(stderr).not.toMatch(/\n\s+at /);
});
