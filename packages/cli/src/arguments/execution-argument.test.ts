import { randomUUID } from "node:crypto";
import { Config } from "@engine/contract";
import { startServer } from "@engine/server";
import { openSqliteStore } from "@engine/store";
import { expect, onTestFinished, test, vi } from "vitest";
import { capturedIo } from "../io/captured-io.ts";
import { runCli } from "../run-cli.ts";

// A server starts here, which takes its time on a busy machine.
vi.setConfig({ testTimeout: 60_000 });

const silent = { debug() {}, info() {}, warn() {}, error() {} };
const FLOWS = `import { call, workflow } from "@engine/sdk";
export const hello = workflow({ name: "hello" }, async () => 1);
export const order = workflow({ name: "order", namespace: "shop" }, async () => 1);
`;
/** Ids sort by creation; the first three begin alike, two of them with the same millisecond. */
const IDS = [
  "0198c2f4-5b7a-7000-8d7e-3f1b8a6c2d10",
  "0198c2f4-5b7a-7001-8d7e-3f1b8a6c2d11",
  "0198c2f4-9000-7000-8d7e-3f1b8a6c2d12",
  "0198ffff-ffff-7fff-bfff-ffffffffffff",
  "01990000-0000-7000-8000-000000000000",
] as const;

/** A server without workers that gives these ids, and a user's command line. */
async function start() {
  let now = Date.parse("2026-01-01T12:00:00.000Z");
  const clock = () => now++;
  const store = await openSqliteStore({ path: ":memory:", synchronous: "normal", clock });
  const unused = [...IDS];
  let next: string | undefined;
  const server = await startServer({
    config: Config.parse({ server: { port: 0 } }),
    store,
    log: silent,
    version: "1.2.3",
    clock,
    // A request has an id, too.
    ids: () => {
      const id = next ?? randomUUID();
      next = undefined;
      return id;
    },
  });
  onTestFinished(async () => {
    await server.close();
    await store.close();
  });
  async function engine(...args: string[]) {
    const io = capturedIo({ env: { ENGINE_SERVER_URL: server.url } });
    const code = await runCli(args, io);
    return { code, out: io.printed(), err: io.complained() };
  }
  await server.engine.catalog.register({ source: FLOWS }, { by: null });
  /** Starts a workflow under the next of the ids. */
  async function run(workflow: string, namespace = "default"): Promise<string> {
    next = unused.shift();
    const request = {
      namespace,
      workflow,
      input: null,
      trigger: { kind: "api" },
      by: null,
    } as const;
    return (await server.engine.executions.start(request)).row.execution_id;
  }
  return { engine, run };
}

type Engine = Awaited<ReturnType<typeof start>>["engine"];

async function shown(engine: Engine, ...args: string[]): Promise<string> {
  const { out, err } = await engine("execution", "show", ...args, "--format", "json");
  expect(err).toBe("");
  return (JSON.parse(out) as { execution_id: string }).execution_id;
}

test("an execution is found by the beginning of its id, with or without dashes, in any case", async () => {
  const { engine, run } = await start();
  for (const id of IDS) expect(await run("hello")).toBe(id);
  expect(await shown(engine, "0198c2f4-5b7a-7000")).toBe(IDS[0]);
  expect(await shown(engine, "0198c2f49")).toBe(IDS[2]);
  expect(await shown(engine, "0198C2F4-9")).toBe(IDS[2]);
  expect(await shown(engine, "0198f")).toBe(IDS[3]);
  // All but the last character, which is the least, or the greatest.
  expect(await shown(engine, IDS[0].slice(0, -1))).toBe(IDS[0]);
  expect(await shown(engine, IDS[3].slice(0, -1))).toBe(IDS[3]);
  expect(await shown(engine, "0199")).toBe(IDS[4]);
});

test("a beginning that several ids have lists them; one that none has, or that is too short, says so", async () => {
  const { engine, run } = await start();
  for (const _ of IDS) await run("hello");
  expect(await engine("execution", "show", "0198c2f45b")).toEqual({
    code: 1,
    out: "",
    err: `error: several execution ids begin with 0198c2f4-5b; type more of it:
  ${IDS[0]}   hello v1   created
  ${IDS[1]}   hello v1   created
`,
  });
  expect(await engine("execution", "cancel", "0198")).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^error: several execution ids begin with 0198;.*\n(.*\n){4}$/),
  });
  expect(await engine("execution", "show", "0abc")).toEqual({
    code: 1,
    out: "",
    err: "error: no execution id begins with 0abc; see all of them with: npx engine execution list\n",
  });
  expect(await engine("execution", "show", "019")).toEqual({
    code: 2,
    out: "",
    err: `error: "019" is too short for the beginning of an id: give 4 characters or more\n`,
  });
  expect((await engine("execution", "show", "order-17")).err).toMatch(/^error: .*order-17/);
});

test("--last is the newest execution, or the newest of a workflow", async () => {
  const { engine, run } = await start();
  expect(await engine("execution", "show", "--last")).toMatchObject({
    code: 1,
    err: "error: there is no execution yet, so --last names none\n",
  });
  const first = await run("hello");
  const second = await run("order", "shop");
  const third = await run("hello");
  expect(await shown(engine, "--last")).toBe(third);
  expect(await shown(engine, "--last", "--workflow", "shop/order")).toBe(second);
  expect(await shown(engine, "--last", "--workflow", "order")).toBe(second);
  expect((await engine("workflow", "status", "shop/order", "--last")).out).toContain(second);
  expect((await engine("execution", "show", "--last", "--workflow", "default/order")).err).toBe(
    "error: there is no execution of default/order yet, so --last names none\n",
  );
  expect(first).toBe(IDS[0]);
});

test("--last stands in for the id in front of other arguments", async () => {
  const { engine, run } = await start();
  const id = await run("hello");
  expect((await engine("execution", "rename", "--last", "first order")).out).toMatch(
    /label +first order/,
  );
  expect((await engine("execution", "rename", "--last", "--clear")).out).not.toContain("label");
  expect((await engine("execution", "signal", "--last", "word", '"x"')).out).toMatch(
    new RegExp(`^Sent word to ${id}, `),
  );
  expect((await engine("execution", "events", "--last")).out).toContain("WORKFLOW_SIGNALED");
  expect((await engine("execution", "export", "--last")).out).toContain(id);
  expect((await engine("execution", "restart", "--last")).out).toMatch(`forked from   ${id}, anew`);
});

test.each([
  [
    ["execution", "show"],
    /missing required argument 'id': an execution id, how it begins, or --last/,
  ],
  [["execution", "show", "0198c2f4", "--last"], /too many arguments: --last stands in for the id/],
  [["execution", "signal", "0198c2f4"], /missing required argument 'name': the name of the signal/],
  [["execution", "signal", "--last"], /missing required argument 'name'/],
  [["execution", "signal", "--last", "a", "b", "c"], /too many arguments: --last/],
  [["execution", "rename", "0198c2f4", "a", "--last"], /too many arguments: --last/],
  [["execution", "show", "0198c2f4", "--workflow", "hello"], /--workflow belongs to --last/],
  [["workflow", "resume", "hello"], /missing required argument 'id'/],
])("EXE-95 %j is a usage error", async (args, message) => {
  const io = capturedIo();
  expect(await runCli(args, io)).toBe(2);
  expect(io.complained()).toMatch(message);
});

test("every command that takes an id takes how it begins", async () => {
  const { engine, run } = await start();
  const id = await run("hello");
  const begins = id.slice(0, 13);
  for (const args of [
    ["execution", "show", begins],
    ["execution", "events", begins],
    ["execution", "export", begins],
    ["execution", "rename", begins, "x"],
    ["execution", "signal", begins, "word"],
    ["execution", "fork", begins],
    ["execution", "list", "--parent", begins],
    ["execution", "list", "--before", begins],
    ["workflow", "status", "hello", begins],
  ]) {
    expect(await engine(...args), args.join(" ")).toMatchObject({
      code: 0,
      err: expect.not.stringContaining("error"),
    });
  }
  const paused = await engine("workflow", "resume", "hello", begins, "1");
  expect(paused).toMatchObject({ code: 1, err: expect.not.stringContaining("no execution") });
  expect(await engine("execution", "watch", "0abc")).toMatchObject({ code: 1 });
  expect(await engine("workflow", "cancel", "hello", begins)).toMatchObject({ code: 0 });
});

test("EXE-79 under the wrong workflow one is told whose execution it is, and nothing happens", async () => {
  const { engine, run } = await start();
  const id = await run("order", "shop");
  for (const [command, args] of [
    ["resume", ['{"ok":true}']],
    ["cancel", []],
    ["status", []],
  ] as const) {
    const byId = command === "status" ? "show" : command;
    expect(await engine("workflow", command, "hello", id, ...args), command).toEqual({
      code: 1,
      out: "",
      err: `error: execution ${id} is of shop/order, not of hello; without a workflow: npx engine execution ${byId} ${id}\n`,
    });
  }
  expect((await engine("workflow", "resume", "hello", IDS[4])).err).toMatch(
    /^error: no execution .*see all of them with/,
  );
  expect(JSON.parse((await engine("execution", "show", id, "--format", "json")).out)).toMatchObject(
    {
      state: "CREATED",
    },
  );
});

test("EXE-42 an execution is cancelled by its id alone", async () => {
  const { engine, run } = await start();
  const id = await run("order", "shop");
  const cancelled = await engine("execution", "cancel", id, "--sync", "--reason", "ordered twice");
  expect(cancelled).toMatchObject({ code: 0, err: "" });
  expect(cancelled.out).toMatch(
    /^⊘ cancelled {2}shop\/order v1\n(.*\n)* +why +.*: ordered twice\n/,
  );
  expect((await engine("execution", "cancel", id)).err).toMatch(/^error: .*CANCELLED/);
});
