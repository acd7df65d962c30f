import { createHash } from "node:crypto";
import { Config, WORKER_PROTOCOL } from "@engine/contract";
import { startServer } from "@engine/server";
import { openAlike, openSqliteStore, ringOf } from "@engine/store";
import { expect, onTestFinished, test } from "vitest";
import { capturedIo } from "../../io/captured-io.ts";
import { runCli } from "../../run-cli.ts";

const silent = { debug() {}, info() {}, warn() {}, error() {} };
const NOON = Date.parse("2026-01-01T12:00:00.000Z");
const HELLO = (n: number) => `import { workflow } from "@engine/sdk";
export const hello = workflow({ name: "hello" }, async () => ${n});
`;

/** A server without workers whose clock a test moves, and a user's command line. */
async function start(security: object = {}) {
  let now = NOON;
  const clock = () => now;
  const store = await openSqliteStore({ path: ":memory:", synchronous: "normal", clock });
  const config = Config.parse({ server: { port: 0 }, security });
  const server = await startServer({ config, store, log: silent, version: "1.2.3", clock });
  onTestFinished(async () => {
    await server.close();
    await store.close();
  });
  const register = (n: number) =>
    server.engine.catalog.register({ source: HELLO(n) }, { by: null });
  await register(1);
  async function engine(...args: string[]) {
    const io = capturedIo({ env: { ENGINE_SERVER_URL: server.url }, now: clock });
    const code = await runCli(args, io);
    return { code, out: io.printed(), err: io.complained() };
  }
  async function run(...args: string[]): Promise<string> {
    const { out } = await engine("workflow", "run", "hello", ...args, "--format", "json");
    return JSON.parse(out).execution_id;
  }
  async function listed(...args: string[]): Promise<string[]> {
    const { out } = await engine("execution", "list", ...args, "--format", "json");
    return JSON.parse(out).items.map((item: { execution_id: string }) => item.execution_id);
  }
  const pass = (ms: number) => {
    now += ms;
  };
  return { engine, run, listed, pass, register, server };
}

test("EXE-85 EXE-95 list filters by label, version, schedule and instants", async () => {
  const { engine, run, listed, pass, register } = await start();
  const first = await run("--name", "Order 17");
  pass(60_000);
  await register(2);
  const second = await run("--name", "order 18");
  await engine("workflow", "cancel", "hello", first);
  pass(60_000);
  await engine("workflow", "cancel", "hello", second);
  await engine("schedule", "create", "hello", "nightly", "--every", "1d");
  const triggered = await engine("schedule", "trigger", "nightly", "--format", "json");
  const third = JSON.parse(triggered.out).execution_id;

  expect(await listed()).toEqual([third, second, first]);
  expect(await listed("--order", "created_asc")).toEqual([first, second, third]);
  expect(await listed("--name", "ORDER")).toEqual([second, first]);
  expect(await listed("--name", "order 17")).toEqual([first]);
  expect(await listed("--version", "1")).toEqual([first]);
  expect(await listed("--schedule", "nightly")).toEqual([third]);
  expect(await listed("--created-after", "2026-01-01T12:00:00Z")).toEqual([third, second]);
  expect(await listed("--created-before", "2026-01-01T13:02:00+01:00")).toEqual([second, first]);
  // Without an offset it is UTC.
  expect(await listed("--finished-after", "2026-01-01T12:01:00")).toEqual([second]);
  expect(await listed("--finished-before", "2026-01-01T12:01:30Z")).toEqual([first]);
});

test("EXE-85 EXE-95 a list that goes on says how, behind the last id so that new ones shift nothing", async () => {
  const { engine, run, listed } = await start();
  const ids = [await run(), await run(), await run(), await run(), await run()].reverse();
  const list = async (...args: string[]) => (await engine("execution", "list", ...args)).out;
  expect(await list("--limit", "2")).toMatch(
    new RegExp(`\n3 more; continue with --before ${ids[1]}\n$`),
  );
  await run();
  const behind = ["--limit", "2", "--before", ids[1] ?? ""];
  expect(await listed(...behind)).toEqual([ids[2], ids[3]]);
  expect(await list(...behind)).toMatch(
    new RegExp(`\n6 in all; continue with --before ${ids[3]}\n$`),
  );
  expect(await list("--limit", "2", "--before", ids[3] ?? "")).not.toContain("continue");
  expect(await list("--before", ids[4] ?? "")).toBe("No more: 6 match in all.\n");
  expect(await list("--limit", "2", "--offset", "2")).toMatch(
    /\n2 more; continue with --offset 4\n$/,
  );
});

test("EXE-80 EXE-84 EXE-95 run says how urgent it is, when it may begin, where, and under which key", async () => {
  const { engine, run, server } = await start();
  const { session } = await server.engine.workers.register({
    name: "gpu-1",
    instance_id: "01900000-0000-7000-8000-000000000001",
    protocol: WORKER_PROTOCOL,
    engine_version: "1.2.3",
    host: "box",
    pid: 1,
    runtime: { os: "linux", arch: "x64", node: "24" },
    labels: {},
    slots: 64,
    runners: ["thread"],
    default_runner: "thread",
    resources: null,
    packages: [],
    services: [],
  });
  await server.engine.workers.disconnect({ worker: "gpu-1", session });
  const where = ["--prefer-worker", "gpu-0", "--require-worker", "gpu-1"];
  const id = await run("--priority", "-5", "--park-ttl", "90", ...where);
  expect(await server.engine.executions.get(id)).toMatchObject({
    priority: -5,
    park_ttl_ms: 90_000,
    // Where one has to have it, nobody else is preferred.
    requirements: { worker: "gpu-1" },
  });
  const wished = await run("--prefer-worker", "gpu-0");
  expect(await server.engine.executions.get(wished)).toMatchObject({
    last_worker: null,
    requirements: { prefers: "gpu-0" },
  });
  const later = await run("--start-at", "2026-01-01T13:00:00");
  expect(await server.engine.executions.get(later)).toMatchObject({
    state: "CREATED",
    not_before: NOON + 3_600_000,
  });
  const keyed = ["7", "--idempotency-key", "order-17"];
  expect(await run(...keyed)).toBe(await run(...keyed));
  const other = await engine("workflow", "run", "hello", "8", "--idempotency-key", "order-17");
  expect(other).toMatchObject({ code: 1, err: expect.stringMatching(/^error: .*another input/) });
  const unknown = await engine("workflow", "run", "hello", "--require-worker", "gpu-9");
  expect(unknown).toMatchObject({ code: 1, err: expect.stringContaining("no worker gpu-9") });
});

test("RIN-1 run, restart and trigger take a routing input, of which the last two have one already", async () => {
  const key = Buffer.alloc(32, 7);
  const { engine, run, server } = await start({ encryption: { key: key.toString("base64") } });
  const id = createHash("sha256").update(key).digest("hex").slice(0, 8);
  const ring = ringOf({ id, key });
  const routed = await run("-r", "dataset=berlin", "--routing-input", "tier=", "-r", "a=b=ü");
  const routing = { dataset: "berlin", tier: "", a: "b=ü" };
  const routingOf = async (id: string) => {
    const { routing_input } = await server.engine.executions.get(id);
    return routing_input && JSON.parse(openAlike(ring, routing_input));
  };
  expect(await routingOf(routed)).toEqual(routing);
  const restart = ["execution", "restart", routed, "--format", "json"];
  const again = async (...more: string[]) =>
    routingOf(JSON.parse((await engine(...restart, ...more)).out).execution_id);
  expect(await again()).toEqual(routing);
  expect(await again("-r", "dataset=paris")).toEqual({ dataset: "paris" });
  await engine("schedule", "create", "hello", "routed", "--every", "1d", "-r", "dataset=berlin");
  const trigger = async (...more: string[]) => {
    const { out } = await engine("schedule", "trigger", "routed", ...more, "--format", "json");
    return routingOf(JSON.parse(out).execution_id);
  };
  expect(await trigger()).toEqual({ dataset: "berlin" });
  expect(await trigger("-r", "dataset=paris")).toEqual({ dataset: "paris" });
});

test("EXE-95 rename gives a label, another one, and takes it away", async () => {
  const { engine, run } = await start();
  const id = await run();
  expect((await engine("execution", "rename", id, "first order")).out).toMatch(
    /label +first order\n/,
  );
  expect((await engine("execution", "list", "--name", "first")).out).toContain("(first order)");
  const cleared = await engine("execution", "rename", id, "--clear");
  expect(cleared).toMatchObject({ code: 0, out: expect.not.stringContaining("label") });
  for (const args of [[id], [id, "a", "--clear"]]) {
    expect(await engine("execution", "rename", ...args)).toMatchObject({
      code: 2,
      err: expect.stringContaining("a name, or --clear"),
    });
  }
});

test("EXE-95 events --type prints only events of that type", async () => {
  const { engine, run } = await start();
  const id = await run();
  await engine("workflow", "cancel", "hello", id);
  const types = async (...args: string[]) => {
    const { out } = await engine("execution", "events", id, ...args, "--format", "json");
    return JSON.parse(out).items.map(({ type }: { type: string }) => type);
  };
  expect(await types("--type", "workflow_created", "--type", "WORKFLOW_CANCELLED")).toEqual([
    "WORKFLOW_CREATED",
    "WORKFLOW_CANCELLED",
  ]);
  expect((await engine("execution", "events", id, "--type", "task_failed")).out).toBe(
    "No events of that type.\n",
  );
});

test.each([
  [["workflow", "run", "hello", "--priority", "11"], /from -10 to 10/],
  [["workflow", "run", "hello", "--priority", "high"], /from -10 to 10/],
  [["workflow", "run", "hello", "--start-at", "tomorrow"], /such as 2026-11-20T09:00:00Z/],
  [["workflow", "run", "hello", "--park-ttl", "-1"], /0 = for ever/],
  [["workflow", "run", "hello", "--require-worker", "gpu 1"], /name of a worker/],
  [["execution", "list", "--created-after", "7"], /such as 2026-11-20T09:00:00Z/],
  [["execution", "list", "--order", "newest"], /Allowed choices are created_desc/],
  [["execution", "events", "x", "--type", "boom"], /Expected one of workflow_created/],
])("EXE-95 %j is a usage error", async (args, message) => {
  const io = capturedIo();
  expect(await runCli(args, io)).toBe(2);
  expect(io.complained()).toMatch(message);
});
