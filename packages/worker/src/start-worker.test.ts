import { createHash } from "node:crypto";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { notFound } from "@engine/contract";
import { expect, onTestFinished, test } from "vitest";
import { FakeServer } from "./testing/fake-server.ts";
import { AT_GATE, createGate } from "./testing/gate.ts";
import { startTestWorker } from "./testing/test-worker.ts";
import { until } from "./testing/until.ts";

const HELLO = `
import { task, workflow } from "@engine/sdk";
const greet = task({ name: "greet" }, async (name) => "Hello, " + name);
export const hello = workflow({ name: "hello" }, async (name) => greet(name));
`;

const GATED = `
import { pause, parallel, progress, task, workflow } from "@engine/sdk";
${AT_GATE}
const wait = task({ name: "wait" }, async (name) => { await atGate(name); return "waited"; });
const note = task({ name: "note" }, async () => "noted");
export const gated = workflow({ name: "gated" }, async (name) => {
  const waited = await wait(name);
  return [waited, await note()];
});
export const pausing = workflow({ name: "pausing" }, async () => {
  const answer = await pause("approval");
  return "approved by " + answer;
});
export const both = workflow({ name: "both" }, async (name) => {
  return parallel([() => pause("approval"), () => wait(name)]);
});
`;

test("an assigned execution runs on a thread and its log is complete", async () => {
  const server = new FakeServer();
  await using worker = await startTestWorker(server);
  const id = server.start("hello", server.addModule(HELLO), { input: "World" });

  expect(await server.finished(id)).toMatchObject({ state: "COMPLETED", output: "Hello, World" });
  expect(server.types(id)).toEqual([
    "WORKFLOW_CREATED",
    "WORKFLOW_CLAIMED",
    "WORKFLOW_STARTED",
    "TASK_STARTED",
    "TASK_COMPLETED",
    "WORKFLOW_COMPLETED",
  ]);
  expect(worker.lines.filter((line) => /^(warn|error)/.test(line))).toEqual([]);
});

test("RUN-4 executions that need the same bundle at the same time fetch it once", async () => {
  const server = new FakeServer();
  const hash = server.addModule(HELLO);
  server.dispatching = false;
  await using worker = await startTestWorker(server, { threads: 2 });
  await worker.connected;
  const ids = ["a", "b", "c"].map((input) => server.start("hello", hash, { input }));
  server.dispatching = true;
  const last = server.start("hello", hash, { input: "d" });
  await Promise.all([...ids, last].map((id) => server.finished(id)));

  expect(server.moduleReads).toEqual([hash]);
  expect(readdirSync(join(worker.home, "modules"))).toEqual([`${hash}.mjs`]);
});

test("a paused execution leaves the worker and goes on when it is resumed", async () => {
  const server = new FakeServer();
  await using worker = await startTestWorker(server);
  const id = server.start("pausing", server.addModule(GATED));
  await server.until(() => server.row(id).state === "PAUSED");
  server.resume(id, "Ada");

  expect(await server.finished(id)).toMatchObject({ output: "approved by Ada", generation: 2 });
  expect(worker.exits).toEqual([]);
});

test("a resume reaches an execution that still runs, by its stream", async () => {
  const server = new FakeServer();
  using gate = createGate("resume-while-running");
  await using _worker = await startTestWorker(server);
  const id = server.start("both", server.addModule(GATED), { input: gate.name });
  await gate.arrived();
  await server.until(() => server.types(id).includes("TASK_PAUSED"));
  server.resumeRunning(id, "Ada");
  gate.open();

  expect(await server.finished(id)).toMatchObject({ output: ["Ada", "waited"], generation: 1 });
});

test("CKP-3 an execution merges what the server wrote and it had not heard of", async () => {
  const server = new FakeServer();
  using gate = createGate("conflict");
  await using _worker = await startTestWorker(server);
  const id = server.start("both", server.addModule(GATED), { input: gate.name });
  await gate.arrived();
  await server.until(() => server.types(id).includes("TASK_PAUSED"));
  server.resume(id, "Ada");
  gate.open();

  expect(await server.finished(id)).toMatchObject({ output: ["Ada", "waited"], generation: 1 });
  expect(server.refusals).toContain("seq_conflict");
});

test("CKP-3 a checkpoint whose answer was lost is sent again and recorded once", async () => {
  const server = new FakeServer();
  await using _worker = await startTestWorker(server);
  let lost = 0;
  server.answering = () => {
    if (lost++ < 2) throw new Error("connection reset");
  };
  const id = server.start("hello", server.addModule(HELLO), { input: "World" });

  expect(await server.finished(id)).toMatchObject({ state: "COMPLETED", output: "Hello, World" });
  await server.until(() => lost > 2);
  expect(server.log(id).map((event) => event.seq)).toEqual([1, 2, 3, 4, 5, 6]);
});

test("CKP-2 a copy whose execution was given to another writes nothing more", async () => {
  const server = new FakeServer();
  using gate = createGate("stale");
  await using worker = await startTestWorker(server);
  const id = server.start("gated", server.addModule(GATED), { input: gate.name });
  await gate.arrived();
  await server.until(() => server.types(id).includes("TASK_STARTED"));
  server.dispatching = false;
  server.takeAway(id);
  const head = server.row(id).head;
  gate.open();
  await server.until(() => server.refusals.includes("stale_claim"));
  await worker.stop();

  expect(server.row(id).head).toBe(head);
  expect(server.releases).toEqual([]);
});

test("WRK-7 a revoked copy is stopped and writes nothing more", async () => {
  const server = new FakeServer();
  using gate = createGate("revoked");
  await using worker = await startTestWorker(server);
  const id = server.start("gated", server.addModule(GATED), { input: gate.name });
  await gate.arrived();
  await server.until(() => server.types(id).includes("TASK_STARTED"));
  const batches = server.batches.length;
  server.send({
    event: "revoke",
    data: { execution_id: id, generation: 1, reason: "moved" },
  });
  gate.open();
  await worker.stop();

  expect(server.batches).toHaveLength(batches);
  expect(server.releases).toEqual([]);
});

test("a log longer than its frame is read by pages before the body starts", async () => {
  const server = new FakeServer();
  server.framedHistory = 2;
  await using _worker = await startTestWorker(server, { warm_executions: 0 });
  const id = server.start("pausing", server.addModule(GATED));
  await server.until(() => server.row(id).state === "PAUSED");
  server.resume(id, "Ada");

  expect(await server.finished(id)).toMatchObject({ output: "approved by Ada" });
});

test("an assignment whose history cannot be read gives its slot back", async () => {
  const server = new FakeServer();
  server.framedHistory = 1;
  await using _worker = await startTestWorker(server);
  server.before = (call) => {
    if (call === "events") throw notFound("log", "of that execution");
  };
  const id = server.start("hello", server.addModule(HELLO));
  await server.until(() => server.releases.length > 0);
  server.before = () => {};

  expect(server.releases[0]).toMatchObject({ execution_id: id, reason: "runner_lost" });
  expect(await server.finished(id)).toMatchObject({ state: "COMPLETED" });
});

test("an execution whose log comes with a gap is not run on it and gives its slot back", async () => {
  const server = new FakeServer();
  server.framedHistory = 1;
  const events = server.events.bind(server);
  let reads = 0;
  Object.assign(server, {
    async events(...of: Parameters<FakeServer["events"]>) {
      const page = await events(...of);
      return ++reads === 1 ? { ...page, events: [] } : page;
    },
  });
  await using worker = await startTestWorker(server);
  const id = server.start("hello", server.addModule(HELLO));

  expect(await server.finished(id)).toMatchObject({ state: "COMPLETED", generation: 2 });
  expect(server.releases).toMatchObject([{ execution_id: id, reason: "runner_lost" }]);
  expect(worker.lines).toContainEqual(expect.stringContaining("its log came with a gap"));
});

test("LIV-6 a bundle that cannot run what it should ends the execution naming why", async () => {
  const server = new FakeServer();
  await using worker = await startTestWorker(server);
  const bundles = {
    syntax_error: "export const = 1;",
    missing_export: "export const hello = 1;",
    definition_mismatch: HELLO.replace('name: "hello"', 'name: "goodbye"'),
    import_failed: 'throw new Error("no such /secret/folder/file")',
    package_not_found: 'import "left-padding"; export const hello = 1;',
  };
  const said = new Map<string, string>();
  for (const [reason, bundle] of Object.entries(bundles)) {
    const id = server.start("hello", server.addModule(bundle));
    const { failure } = await server.finished(id);
    expect(failure).toMatchObject({
      type: "WorkflowLoadError",
      details: { reason, expected: "default/hello" },
    });
    expect(JSON.stringify(failure)).not.toMatch(/secret|modules/);
    said.set(reason, failure?.message ?? "");
  }
  expect(said.get("package_not_found")).toMatch(/"left-padding".*requests\.packages/);
  // The thread has survived all of them.
  const id = server.start("hello", server.addModule(HELLO), { input: "World" });
  expect(await server.finished(id)).toMatchObject({ state: "COMPLETED" });
  expect(worker.lines.filter((line) => line.includes("has died"))).toEqual([]);
});

test("EXE-59 LIV-6 what a bundle requires comes from the worker's installation, too, or is named", async () => {
  const server = new FakeServer();
  await using _worker = await startTestWorker(server);
  const requiring = (name: string) =>
    server.addModule(`import { createRequire } from "node:module";
const required = createRequire(import.meta.url)("${name}");
${HELLO}`);
  const found = server.start("hello", requiring("zod"), { input: "World" });
  expect(await server.finished(found)).toMatchObject({ state: "COMPLETED" });
  const missing = server.start("hello", requiring("left-padding"));
  expect((await server.finished(missing)).failure).toMatchObject({
    type: "WorkflowLoadError",
    message: expect.stringMatching(/"left-padding".*requests\.packages/),
    details: { reason: "package_not_found" },
  });
});

test("EXE-69 a bundle whose workflow has another durability than was registered is not run", async () => {
  const server = new FakeServer();
  await using _worker = await startTestWorker(server);
  const durable = server.addModule(HELLO);
  const transient = server.addModule(
    HELLO.replace('name: "hello"', 'name: "hello", durability: "transient"'),
  );
  const refused = server.start("hello", transient);
  expect((await server.finished(refused)).failure).toMatchObject({
    type: "WorkflowLoadError",
    message: `default/hello version 1 was registered with durability "durable", and its bundle defines it with "transient"; register the file again`,
    details: { reason: "definition_mismatch", expected: "durable", found: "transient" },
  });
  const other = server.start("hello", durable, { transient: true });
  expect((await server.finished(other)).failure?.details).toMatchObject({
    reason: "definition_mismatch",
    expected: "transient",
    found: "durable",
  });
  const same = server.start("hello", transient, { transient: true });
  expect(await server.finished(same)).toMatchObject({ state: "COMPLETED" });
});

test("EXE-69 a bundle whose workflow has another affinity or routing than was registered is not run", async () => {
  const server = new FakeServer();
  await using _worker = await startTestWorker(server);
  const digest = (text: string) => createHash("sha256").update(text).digest("hex");
  const declaring = (options: string) =>
    server.addModule(
      `import { label, least, load, require, score } from "@engine/sdk/routing";
${HELLO.replace('name: "hello"', `name: "hello", ${options}`)}`,
    );
  const plain = server.addModule(HELLO);
  const labels = declaring('affinity: { os: "linux", arch: "arm64" }');
  const terms = declaring(
    'affinity: require(label("os").eq("linux")), routing: score(least(load()))',
  );
  const ofLabels = digest('{"affinity":{"arch":"arm64","os":"linux"},"routing":null}');
  const ofTerms = digest(
    '{"affinity":[{"kind":"match","left":{"key":"os","kind":"label"},"op":"eq","right":"linux"}],"routing":{"terms":[{"kind":"least","selector":{"kind":"load"},"weight":1}]}}',
  );
  // A server that tells nothing is taken at its word.
  for (const [module, placement] of [
    [plain, null],
    [labels, ofLabels],
    [terms, ofTerms],
    [plain, undefined],
    [terms, undefined],
  ] as const) {
    const id = server.start("hello", module, { placement });
    expect(await server.finished(id)).toMatchObject({ state: "COMPLETED" });
  }
  for (const [module, placement] of [
    [plain, ofLabels],
    [labels, ofTerms],
    [terms, ofLabels],
    [labels, null],
  ] as const) {
    const id = server.start("hello", module, { placement });
    expect((await server.finished(id)).failure).toMatchObject({
      type: "WorkflowLoadError",
      message:
        "default/hello version 1 was registered with another affinity or routing than its bundle defines; register the file again",
      details: { reason: "definition_mismatch", workflow: "default/hello" },
    });
  }
});

test("an execution whose checkpoint the server will not have ends with the reason, and is not run again", async () => {
  const server = new FakeServer();
  const issues = [{ path: "events[0].time", message: "must be YYYY-MM-DD HH:MM:SS.mmm" }];
  const message = "events[0].time: must be YYYY-MM-DD HH:MM:SS.mmm";
  const error = { code: "invalid_input" as const, message, details: { issues } };
  server.checkpoints = async (_, items) =>
    items.map(({ execution_id }) => ({ execution_id, error }));
  await using worker = await startTestWorker(server);
  const id = server.start("hello", server.addModule(HELLO));

  expect(await server.finished(id)).toMatchObject({
    state: "FAILED",
    generation: 1,
    failure: {
      type: "WorkflowLoadError",
      message: expect.stringContaining(`the checkpoint that the workflow's SDK made: ${message};`),
      details: { reason: "checkpoint_refused", code: "invalid_input", issues },
    },
  });
  expect(server.releases).toMatchObject([{ execution_id: id, reason: "load_failed" }]);
  await until(() => worker.status().running === 0);
});

test("LIV-6 a bundle that twice comes with another content is not run", async () => {
  const server = new FakeServer();
  await using _worker = await startTestWorker(server);
  const hash = server.addModule(HELLO);
  server.modules.set(hash, `${HELLO}// changed`);
  const id = server.start("hello", hash);

  expect((await server.finished(id)).failure?.details).toMatchObject({ reason: "hash_mismatch" });
  expect(server.moduleReads).toEqual([hash, hash]);
});

test("AUTH-55 user code sees no variable of the engine", async () => {
  const server = new FakeServer();
  process.env["ENGINE_TOP_SECRET"] = "1";
  process.env["ORDINARY"] = "1";
  onTestFinished(() => {
    delete process.env["ENGINE_TOP_SECRET"];
    delete process.env["ORDINARY"];
  });
  await using _worker = await startTestWorker(server);
  const id = server.start(
    "names",
    server.addModule(`
import { task, workflow } from "@engine/sdk";
const read = task({ name: "read" }, async () => Object.keys(process.env));
export const names = workflow({ name: "names" }, async () => read());
`),
  );
  const names = (await server.finished(id)).output as string[];

  expect(names).toContain("ORDINARY");
  expect(names.filter((name) => name.startsWith("ENGINE_"))).toEqual([]);
});

test("RUN-2 a thread that user code ends takes only its executions along, and they run again", async () => {
  const server = new FakeServer();
  using gate = createGate("neighbour-thread");
  await using worker = await startTestWorker(server, { threads: 2 });
  const hash = server.addModule(`
import { task, workflow } from "@engine/sdk";
${AT_GATE}
const wait = task({ name: "wait" }, async (name) => { await atGate(name); return "waited"; });
const first = task({ name: "first" }, async () => "first");
const end = task({ name: "end" }, async (name) => { await atGate(name); process.exit(3); });
export const ending = workflow({ name: "ending" }, async (name) => { await first(); await end(name); });
export const waiting = workflow({ name: "waiting" }, async (name) => wait(name));
`);
  const neighbour = server.start("waiting", hash, { input: gate.name });
  await gate.arrived();
  using trigger = createGate("ends-its-thread");
  const id = server.start("ending", hash, { input: trigger.name });
  await trigger.arrived();
  await server.until(() => server.types(id).filter((type) => type === "TASK_STARTED").length === 2);
  trigger.open();
  await server.until(() => server.releases.length > 0);
  await trigger.arrived();
  gate.open();
  await server.finished(neighbour);

  expect(server.releases).toEqual([{ execution_id: id, generation: 1, reason: "runner_lost" }]);
  expect(server.row(id)).toMatchObject({ generation: 2 });
  expect(server.row(neighbour)).toMatchObject({ state: "COMPLETED", generation: 1 });
  expect(worker.lines.join("\n")).toContain("another one replaces it");
});

test("a rejection that no user code awaits is logged with its execution, which goes on", async () => {
  const server = new FakeServer();
  await using worker = await startTestWorker(server);
  const id = server.start(
    "careless",
    server.addModule(`
import { task, workflow } from "@engine/sdk";
const drop = task({ name: "drop" }, async () => { Promise.reject(new Error("forgotten")); return 1; });
export const careless = workflow({ name: "careless" }, async () => drop());
`),
  );

  expect(await server.finished(id)).toMatchObject({ state: "COMPLETED", output: 1 });
  expect(worker.lines.join("\n")).toMatch(/error a promise that no code .*awaits.*forgotten/);
  expect(worker.lines.join("\n")).toContain(id);
});

test("a stack in the worker's log names the line that the user wrote", async () => {
  const server = new FakeServer();
  await using worker = await startTestWorker(server);
  // Says that the bundle's first line is the tenth of flows/careless.ts.
  const map = {
    version: 3,
    sourceRoot: "workflow:///",
    sources: ["flows/careless.ts"],
    names: [],
    mappings: "AASA",
  };
  const encoded = Buffer.from(JSON.stringify(map)).toString("base64");
  // In two parts, or it would be taken for the map of this file.
  const comment = `//# ${"source"}MappingURL=data:application/json;base64,${encoded}`;
  const id = server.start(
    "careless",
    server.addModule(`import { task, workflow } from "@engine/sdk"; \
const drop = task({ name: "drop" }, async () => { Promise.reject(new Error("forgotten")); return 1; }); \
export const careless = workflow({ name: "careless" }, async () => drop());
${comment}
`),
  );
  await server.finished(id);

  expect(worker.lines.join("\n")).toContain("workflow:///flows/careless.ts:10:");
});

test("RUN-2 an error that nothing could catch is logged with its execution, which goes elsewhere", async () => {
  const server = new FakeServer();
  await using worker = await startTestWorker(server);
  const id = server.start(
    "throwing",
    server.addModule(`
import { task, workflow } from "@engine/sdk";
const later = task({ name: "later" }, () => new Promise(() => {
  setTimeout(() => { throw new Error("out of reach"); });
}));
export const throwing = workflow({ name: "throwing" }, async () => { await later(); });
`),
  );
  await server.until(() => server.row(id).generation === 2);
  server.dispatching = false;

  expect(server.releases[0]).toMatchObject({ execution_id: id, reason: "runner_lost" });
  const line = worker.lines.find((text) => text.includes("nothing could catch"));
  expect(line).toContain("out of reach");
  expect(line).toContain(id);
});
