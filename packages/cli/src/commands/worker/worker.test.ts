import {
  Config,
  type SessionRef,
  WORKER_PROTOCOL,
  type WorkerFrame,
  type WorkerRegistration,
} from "@engine/contract";
import { startServer } from "@engine/server";
import { openSqliteStore } from "@engine/store";
import { expect, onTestFinished, test, vi } from "vitest";
import { capturedIo } from "../../io/captured-io.ts";
import type { CliStream } from "../../io/cli-io.ts";
import { runCli } from "../../run-cli.ts";

const silent = { debug() {}, info() {}, warn() {}, error() {} };
const NOON = Date.parse("2026-01-01T12:00:00.000Z");
const GIB = 1024 ** 3;
const HELLO = `import { workflow } from "@engine/sdk";
export const hello = workflow({ name: "hello" }, async (input) => input);
`;

/** A server whose clock stands at noon until it is moved, its workers, and a user's command line. */
async function start() {
  let now = NOON;
  const clock = () => now;
  const store = await openSqliteStore({ path: ":memory:", synchronous: "normal", clock });
  const config = Config.parse({ server: { port: 0 } });
  const server = await startServer({ config, store, log: silent, version: "1.2.3", clock });
  onTestFinished(async () => {
    await server.close();
    await store.close();
  });
  const { workers, catalog, executions } = server.engine;
  await catalog.register({ source: HELLO }, { by: null });

  /** A worker that is registered, and connected unless it is to be offline. */
  async function join(
    name: string,
    {
      onFrame,
      ...changes
    }: Partial<WorkerRegistration> & { onFrame?: (frame: WorkerFrame) => void } = {},
  ): Promise<SessionRef> {
    const registered = await workers.register({
      name,
      instance_id: "01900000-0000-7000-8000-000000000001",
      protocol: WORKER_PROTOCOL,
      engine_version: "1.2.3",
      host: "box-7",
      pid: 4711,
      runtime: { os: "linux", arch: "x64", node: "24.1.0" },
      labels: {},
      slots: 64,
      runners: ["thread"],
      default_runner: "thread",
      resources: null,
      packages: [],
      services: [],
      ...changes,
    });
    const ref = { worker: name, session: registered.session };
    await workers.connect(ref, [], onFrame ?? (() => undefined));
    return ref;
  }

  async function engine(
    args: readonly string[],
    parts: Partial<Parameters<typeof runCli>[1]> = {},
  ) {
    const io = capturedIo({ env: { ENGINE_SERVER_URL: server.url }, now: clock });
    const code = await runCli(args, { ...io, ...parts });
    return { code, out: io.printed(), err: io.complained() };
  }
  const run = async () =>
    (
      await executions.start({
        namespace: "default",
        workflow: "hello",
        input: null,
        trigger: { kind: "api" },
        by: null,
      })
    ).row.execution_id;
  const pass = (ms: number) => {
    now += ms;
  };
  return { engine, join, run, workers, pass };
}

test("WMD-6 EXE-95 list shows how workers are, by name, filtered by status and labels", async () => {
  const { engine, join, workers, run } = await start();
  await join("gpu-1", { labels: { gpu: "a100", zone: "eu" }, slots: 2 });
  await run();
  await join("gpu-2", { labels: { gpu: "a100" }, slots: 0 });
  await workers.disconnect(await join("old"));
  const { out, code } = await engine(["worker", "list"]);
  expect(code).toBe(0);
  expect(out.split("\n").map((line) => line.replace(/ {2,}/g, " | "))).toEqual([
    "STATUS | WORKER | LOAD | LABELS | LAST SEEN",
    "● online | gpu-1 | 1/2 | gpu=a100, zone=eu | just now",
    "● online | gpu-2 | 0 | gpu=a100 | just now",
    expect.stringMatching(/^○ offline \| old \| just now$/),
    "",
  ]);
  const names = async (...args: string[]) => {
    const answer = await engine(["worker", "list", ...args, "--format", "json"]);
    return JSON.parse(answer.out).items.map(({ name }: { name: string }) => name);
  };
  expect(await names("--status", "offline")).toEqual(["old"]);
  expect(await names("--label", "gpu=a100", "--label", "zone=eu")).toEqual(["gpu-1"]);
  expect((await engine(["worker", "list", "--limit", "1"])).out).toMatch(
    /\n2 more; continue with --offset 1\n$/,
  );
  expect((await engine(["worker", "list", "--label", "zone=us"])).out).toBe(
    "No workers match. See them all: npx engine worker list\n",
  );
});

test("EXE-95 a list without any worker says how to start one", async () => {
  const { engine } = await start();
  expect((await engine(["worker", "list"])).out).toBe(
    "No workers yet. Start one: npx engine start worker\n",
  );
});

test("WMD-7 EXE-95 show tells everything about a worker, with the executions it owns", async () => {
  const { engine, join, run } = await start();
  await join("gpu-1", {
    labels: { gpu: "a100", zone: "eu" },
    slots: 2,
    runners: ["thread", "process"],
    services: ["browser"],
    packages: [{ name: "sharp", version: "0.34.1" }],
    resources: {
      cpu_total: 8,
      cpu_available: 6.54,
      memory_total: 32 * GIB,
      memory_available: 20.5 * GIB,
      disk_total: 500 * GIB,
      disk_free: 100 * GIB,
      gpus: [{ name: "A100", memory_total: 80 * GIB }],
    },
  });
  const id = await run();
  const { out } = await engine(["worker", "show", "gpu-1"]);
  expect(out).toBe(`● online  gpu-1
  wanted       active
  healthy      yes
  load         1 of 2 slots, 1 free
  runs         ${id}
  labels       gpu=a100
               zone=eu
  offers       browser
  runners      thread, process; thread unless a workflow asks for another
  machine      8 cores, 6.5 free
               32 GiB memory, 20.5 GiB free
               500 GiB disk, 100 GiB free
               A100, 80 GiB
  packages     sharp 0.34.1
  dispatch     event
  process      box-7, pid 4711
  platform     linux x64, node 24.1.0
  engine       1.2.3
  registered   just now (2026-01-01T12:00:00.000Z)
  connected    just now (2026-01-01T12:00:00.000Z)
  last seen    just now (2026-01-01T12:00:00.000Z)
`);
  const json = JSON.parse((await engine(["worker", "show", "gpu-1", "--format", "json"])).out);
  expect(json).toMatchObject({ name: "gpu-1", status: "online", executions: [id] });
});

test("WMD-7 EXE-95 of many packages show tells the number, and each by name when it is asked to", async () => {
  const { engine, join } = await start();
  const packages = Array.from({ length: 11 }, (_, i) => ({ name: `p${i}`, version: "1.0.0" }));
  await join("gpu-1", { packages });
  expect((await engine(["worker", "show", "gpu-1"])).out).toMatch(
    / {2}packages +11; --packages lists them\n/,
  );
  expect((await engine(["worker", "show", "gpu-1", "--packages"])).out).toMatch(/ p10 1.0.0\n/);
});

test("WRK-11 EXE-95 pause and resume print the worker as it is wanted then", async () => {
  const { engine, join } = await start();
  await join("gpu-1");
  expect((await engine(["worker", "pause", "gpu-1"])).out).toMatch(
    /^‖ paused {2}gpu-1\n {2}wanted +paused\n/,
  );
  expect((await engine(["worker", "list", "--status", "paused"])).out).toContain("gpu-1");
  expect((await engine(["worker", "resume", "gpu-1"])).out).toMatch(/^● online {2}gpu-1\n/);
});

test("WRK-12 EXE-95 drain returns at once and says how to see what is left", async () => {
  const { engine, join } = await start();
  const frames: WorkerFrame[] = [];
  await join("gpu-1", { onFrame: (frame) => void frames.push(frame) });
  const drained = await engine(["worker", "drain", "gpu-1", "--timeout", "300"]);
  expect(drained).toMatchObject({
    code: 0,
    err: "see what is left with: npx engine worker show gpu-1\n",
  });
  expect(drained.out).toMatch(/^◌ draining {2}gpu-1\n/);
  expect(frames.at(-1)).toEqual({
    event: "control",
    data: { command: "drain", timeout_seconds: 300 },
  });
});

test("WRK-12 EXE-95 drain --wait tells what is left until the worker has gone", async () => {
  const { engine, join, run, workers } = await start();
  const err: string[] = [];
  const heard = (stream: CliStream): CliStream => ({
    ...stream,
    write: (text) => void err.push(text),
  });
  const ref = await join("gpu-1");
  const execution_id = await run();
  const drained = engine(["worker", "drain", "gpu-1", "--wait"], { err: heard(capturedIo().err) });
  await vi.waitFor(() => expect(err).toEqual(["gpu-1 has 1 execution left\n"]));
  await workers.release(ref, [{ execution_id, generation: 1, reason: "draining" }]);
  await vi.waitFor(() => expect(err.at(-1)).toBe("gpu-1 has nothing left and is leaving\n"), {
    timeout: 5_000,
  });
  await workers.disconnect(ref);
  expect(await drained).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^○ offline {2}gpu-1/),
  });
});

test("WRK-12 EXE-95 drain --wait ends when the next process of that name is there already", async () => {
  const { engine, join, workers, pass } = await start();
  const first = await join("gpu-1", { pid: 1 });
  const drained = engine(["worker", "drain", "gpu-1", "--wait"]);
  await vi.waitFor(async () =>
    expect((await engine(["worker", "show", "gpu-1"])).out).toMatch(/^◌ draining/),
  );
  await workers.disconnect(first);
  pass(1_000);
  await join("gpu-1", { pid: 2, instance_id: "01900000-0000-7000-8000-000000000002" });
  expect(await drained).toMatchObject({
    code: 0,
    out: "● online  gpu-1\n  wanted   active\n  load     0 of 64 slots, 64 free\n",
  });
});

test("WRK-12 EXE-95 Ctrl-C during drain --wait leaves it draining and says so", async () => {
  const { engine, join } = await start();
  await join("gpu-1");
  const first = Promise.resolve();
  const never = new Promise<void>(() => {});
  const left = await engine(["worker", "drain", "gpu-1", "--wait"], {
    stopSignals: () => ({ first, second: never }),
  });
  expect(left).toMatchObject({ code: 1, out: "" });
  expect(left.err).toMatch(
    /note: worker gpu-1 goes on draining; .*npx engine worker show gpu-1\n$/,
  );
  expect((await engine(["worker", "show", "gpu-1"])).out).toMatch(/^◌ draining/);
});

test("WRK-12 EXE-95 a worker that is resumed while drain waits stays, which is no success", async () => {
  const { engine, join } = await start();
  await join("gpu-1");
  const drained = engine(["worker", "drain", "gpu-1", "--wait"]);
  await vi.waitFor(async () =>
    expect((await engine(["worker", "show", "gpu-1"])).out).toMatch(/^◌ draining/),
  );
  await engine(["worker", "resume", "gpu-1"]);
  expect(await drained).toMatchObject({
    code: 1,
    err: expect.stringMatching(/error: worker gpu-1 was made active meanwhile and stays\n$/),
  });
});

test("EXE-95 delete asks, forgets a worker that is gone, and refuses one that is connected", async () => {
  const { engine, join, workers } = await start();
  const ref = await join("gpu-1");
  expect(await engine(["worker", "delete", "gpu-1", "--yes"])).toMatchObject({
    code: 1,
    err: "error: worker gpu-1 is connected; stop it or drain it first; for example with: npx engine worker drain gpu-1 --wait\n",
  });
  await workers.disconnect(ref);
  expect(await engine(["worker", "delete", "gpu-1"])).toMatchObject({
    code: 2,
    err: expect.stringContaining("Add --yes"),
  });
  const kept = await engine(["worker", "delete", "gpu-1"], { confirm: async () => false });
  expect(kept).toMatchObject({ code: 1, err: "Nothing was deleted.\n" });
  const gone = await engine(["worker", "delete", "gpu-1"], { confirm: async () => true });
  expect(gone).toMatchObject({ code: 0, out: "Forgot worker gpu-1.\n" });
  expect(await engine(["worker", "show", "gpu-1"])).toMatchObject({
    code: 1,
    err: "error: no worker gpu-1; see all of them with: npx engine worker list\n",
  });
});

test("WRK-12 EXE-95 draining a worker that is not there says that there is nothing to drain", async () => {
  const { engine, join, workers } = await start();
  await workers.disconnect(await join("gpu-1"));
  expect(await engine(["worker", "drain", "gpu-1"])).toMatchObject({
    code: 1,
    err: "error: worker gpu-1 is offline, so there is nothing to drain; what it ran goes on elsewhere\n",
  });
});

test("WMD-1 EXE-95 metadata is set, shown, unset and cleared; decimals are numbers unless they are to be text", async () => {
  const { engine, join } = await start();
  await join("gpu-1");
  const metadata = (...args: string[]) => engine(["worker", "metadata", ...args]);
  const json = async () =>
    JSON.parse((await metadata("show", "gpu-1", "--format", "json")).out).metadata;
  expect((await metadata("show", "gpu-1")).out).toBe("Worker gpu-1 has no metadata.\n");
  const pairs = ["tier=gold", "cost=0.25", "n=-3", "up=true", "exp=1e5", "eq=a=b", "none="];
  expect(await metadata("set", "gpu-1", ...pairs)).toEqual({
    code: 0,
    out: "  cost   0.25\n  eq     a=b\n  exp    1e5\n  n      -3\n  none   \n  tier   gold\n  up     true\n",
    err: "",
  });
  const typed = { cost: 0.25, n: -3, up: "true", exp: "1e5", eq: "a=b", none: "", tier: "gold" };
  expect(await json()).toEqual(typed);
  await metadata("set", "gpu-1", "cost=0.25", "rack=007", "--string");
  expect(await json()).toEqual({ ...typed, cost: "0.25", rack: "007" });
  expect((await metadata("set", "gpu-1", "a=1", "b=2", "c=3", "--replace")).out).toBe(
    "  a   1\n  b   2\n  c   3\n",
  );
  expect((await metadata("unset", "gpu-1", "a", "z", "c")).out).toBe("  b   2\n");
  expect(await metadata("clear", "gpu-1", "--format", "json")).toMatchObject({
    out: '{\n  "metadata": {}\n}\n',
  });
  expect(await json()).toEqual({});
  expect(await metadata("set", "gpu-1", "a b=1")).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^error: metadata\.a b: key must be letters/),
  });
});

test("WMD-3 EXE-95 services are granted, listed and taken back, and label what offers them", async () => {
  const { engine, join } = await start();
  await join("gpu-1", { services: ["inference", "cache"] });
  const service = (...args: string[]) => engine(["worker", "service", ...args]);
  expect((await service("list", "gpu-1")).out).toBe(
    "gpu-1\n  offers    inference, cache\n  granted   none\n",
  );
  expect((await service("grant", "gpu-1", "inference")).out).toContain("granted   inference\n");
  await engine(["worker", "metadata", "set", "gpu-1", "tier=gold", "rack=7", "--string"]);
  const labelled = ["worker", "list", "--label", "engine.service.inference=true"];
  expect((await engine(labelled)).out).toContain("engine.service.inference=true");
  const { out } = await engine(["worker", "show", "gpu-1"]);
  expect(out).toMatch(/^ {2}labels +engine\.service\.inference=true$/m);
  expect(out).toMatch(/^ {2}metadata +rack="7"\n +tier=gold$/m);
  expect(out).toMatch(/^ {2}offers +inference, cache\n {2}may use +inference$/m);
  const revoked = await service("revoke", "gpu-1", "inference", "--format", "json");
  expect(JSON.parse(revoked.out)).toEqual({ offered: ["inference", "cache"], granted: [] });
  expect((await engine(labelled)).out).toMatch(/^No workers match/);
});

test.each([
  [["list", "--status", "asleep"], /Allowed choices are offline, disconnected/],
  [["list", "--label", "gpu"], /KEY=VALUE/],
  [["drain", "gpu-1", "--timeout", "-1"], /0 = at once/],
  [["pause"], /missing required argument 'name'/],
])("EXE-95 engine worker %j is a usage error", async (args, message) => {
  const io = capturedIo();
  expect(await runCli(["worker", ...args], io)).toBe(2);
  expect(io.complained()).toMatch(message);
});
