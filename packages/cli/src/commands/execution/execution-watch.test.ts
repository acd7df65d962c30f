import { Config } from "@engine/contract";
import { type Server, startServer } from "@engine/server";
import { openSqliteStore } from "@engine/store";
import { expect, onTestFinished, test, vi } from "vitest";
import { type CapturedIo, capturedIo } from "../../io/captured-io.ts";
import { runCli } from "../../run-cli.ts";
import { startDev } from "../../started-dev.ts";

// A server and a worker start here, which takes its time on a busy machine.
vi.setConfig({ testTimeout: 60_000 });

const silent = { debug() {}, info() {}, warn() {}, error() {} };
const FLOWS = `
import { pause, progress, task, workflow } from "@engine/sdk";
const count = task({ name: "count" }, async () => progress({ n: 1 }));
export const order = workflow({ name: "order" }, async () => {
  await count();
  const { ok } = await pause("review") as { ok: boolean };
  if (!ok) throw new Error("refused");
  return "sent";
});
`;

/** A server without workers that can be stopped and started again at its address. */
async function start() {
  const clock = Date.now;
  const store = await openSqliteStore({ path: ":memory:", synchronous: "normal", clock });
  const open = (port: number) =>
    startServer({
      config: Config.parse({ server: { port } }),
      store,
      log: silent,
      version: "1.2.3",
      clock,
    });
  let server: Server = await open(0);
  const { url } = server;
  onTestFinished(async () => {
    await server.close();
    await store.close();
  });
  await server.engine.catalog.register({ source: FLOWS }, { by: null });
  const request = { namespace: "default", workflow: "order", input: null, by: null };
  const { row } = await server.engine.executions.start({ ...request, trigger: { kind: "api" } });
  return {
    url,
    id: row.execution_id,
    stop: () => server.close(),
    startAgain: async () => {
      server = await open(Number(new URL(url).port));
    },
    cancel: () => server.engine.executions.cancel({ execution_id: row.execution_id, by: null }),
  };
}

function watching(url: string, id: string, args: string[] = [], parts: Partial<CapturedIo> = {}) {
  const io = capturedIo({ env: { ENGINE_SERVER_URL: url } });
  const code = runCli(["execution", "watch", id, ...args], { ...io, ...parts });
  return { io, code };
}

test("EXE-93 EXE-95 watch shows states and progress to the end, through a pause that it says how to answer", async () => {
  await using dev = await startDev({ "flows.ts": FLOWS });
  const started = await dev.engine("workflow", "run", "order", "--format", "json");
  const id: string = JSON.parse(started.out).execution_id;
  const { io, code } = watching(dev.url, id);
  await vi.waitFor(() => expect(io.printed()).toMatch(/‖ paused {2}at review\n$/), {
    timeout: 20_000,
  });
  expect(io.complained()).toBe(`resume it with: npx engine workflow resume order ${id} '<JSON>'\n`);
  await dev.engine("workflow", "resume", "order", id, '{"ok":true}', "--mode", "async");
  expect(await code).toBe(0);
  expect(io.printed()).toMatch(/↻ resuming\n.*\n.*● running\n.*✓ completed {2}"sent"\n$/);
});

test("EXE-95 watch of one that fails ends with its failure and exit code 1", async () => {
  await using dev = await startDev({ "flows.ts": FLOWS });
  const started = await dev.engine(
    "workflow",
    "run",
    "order",
    "--mode",
    "sync",
    "--format",
    "json",
  );
  const id: string = JSON.parse(started.out).execution_id;
  const { io, code } = watching(dev.url, id, ["--events", "--format", "json"]);
  await vi.waitFor(() => expect(io.printed()).toContain("PAUSED"), { timeout: 20_000 });
  await dev.engine("workflow", "resume", "order", id, '{"ok":false}', "--mode", "async");
  expect(await code).toBe(1);
  expect(io.complained()).toMatch(/^error: order v1 failed: Error: refused\n$/);
  const frames = io
    .printed()
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const kinds = frames.map(({ event, data }) => (event === "event" ? data.type : event));
  expect(kinds[0]).toBe("order.execution.paused");
  expect(kinds.slice(-2)).toEqual(["WORKFLOW_FAILED", "order.execution.failed"]);
});

test("EXE-93 EXE-95 watch waits for a server that restarts and misses nothing", async () => {
  const { url, id, stop, startAgain, cancel } = await start();
  const { io, code } = watching(url, id, ["--events"]);
  await vi.waitFor(() => expect(io.printed()).toMatch(/^\S+ {2}○ created {2}\S+\n$/));
  await stop();
  await vi.waitFor(() => expect(io.complained()).toContain(`note: lost ${url}; trying`));
  await startAgain();
  await cancel();
  expect(await code).toBe(1);
  // The state it came back at was told before, the events after it were not.
  expect(io.printed()).toMatch(
    /^\S+ {2}○ created.*\n\S+ {2}2 WORKFLOW_CANCELLING .*\n\S+ {2}◌ cancelling\n\S+ {2}3 WORKFLOW_CANCELLED .*\n\S+ {2}⊘ cancelled\n$/,
  );
  expect(io.complained()).toMatch(
    new RegExp(
      `^note: lost ${url}; trying to reach it again\nnote: connected to ${url} again\nerror: order v1: the execution was cancelled\n$`,
    ),
  );
});

test("EXE-95 Ctrl-C leaves the execution running and says so", async () => {
  const { url, id } = await start();
  const pressed = Promise.withResolvers<void>();
  const stopSignals = () => ({ first: pressed.promise, second: new Promise<void>(() => {}) });
  const { io, code } = watching(url, id, ["--server-url", url], { stopSignals });
  await vi.waitFor(() => expect(io.printed()).toContain("created"));
  pressed.resolve();
  expect(await code).toBe(1);
  expect(io.complained()).toBe(
    `note: the execution goes on; watch it again with: npx engine execution watch ${id} --server-url ${url}\n`,
  );
});

test("EXE-95 watch of an execution that is not there, or of a server that is not, is one clear line", async () => {
  const { url } = await start();
  const nobody = watching(url, "nobody");
  expect(await nobody.code).toBe(1);
  expect(nobody.io.complained()).toBe(
    "error: no execution nobody; see all of them with: npx engine execution list\n",
  );
  const nowhere = watching("http://127.0.0.1:9", "nobody");
  expect(await nowhere.code).toBe(1);
  expect(nowhere.io.complained()).toMatch(/^error: no answer from .*npx engine dev/);
});
