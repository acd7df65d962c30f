import { expect, test } from "vitest";
import { FakeServer } from "../testing/fake-server.ts";
import { AT_GATE, createGate } from "../testing/gate.ts";
import { startTestWorker } from "../testing/test-worker.ts";
import { until } from "../testing/until.ts";

const MODULE = `
import { pause, task, workflow } from "@engine/sdk";
${AT_GATE}
const wait = task({ name: "wait" }, async (name) => { await atGate(name); return "waited"; });
const charge = task({ name: "charge" }, async () => "charged");
const ask = task({ name: "ask" }, async (_, { executionToken }) => executionToken());
export const charging = workflow({ name: "charging" }, async () => charge());
export const waiting = workflow({ name: "waiting" }, async (name) => [await wait(name), await charge()]);
export const pausing = workflow({ name: "pausing" }, async () => { await pause("look"); return charge(); });
export const asking = workflow({ name: "asking" }, async () => {
  const first = await ask();
  await pause("look");
  return [first, await ask()];
});
export const askingTwice = workflow({ name: "askingTwice" }, async (name) => [await ask(), await wait(name), await ask()]);
`;

const enforced = (...task_grants: string[]) => ({ enforced: true, task_grants });
const IN = [["thread"], ["process"], ["inline"]] as const;

test.each(IN)(
  "AUTH-35 in a %s a task that is not granted fails, and one that is runs",
  async (kind) => {
    const server = new FakeServer();
    await using _worker = await startTestWorker(server, { runners: [kind], default_runner: kind });
    const hash = server.addModule(MODULE);
    server.authz = enforced("other");
    const refused = server.start("charging", hash);
    const { state, failure } = await server.finished(refused);
    expect(state).toBe("FAILED");
    expect(failure).toMatchObject({
      type: "TaskNotAuthorizedError",
      details: { missing_permissions: ["workflow:default:charging:task:charge:execute"] },
    });

    server.authz = enforced("charge");
    expect(await server.finished(server.start("charging", hash))).toMatchObject({
      output: "charged",
    });
  },
);

test("AUTH-35 an assignment of a server of protocol 2 that says nothing of rights grants nothing", async () => {
  const server = new FakeServer();
  server.authz = undefined;
  await using _worker = await startTestWorker(server);
  const { failure } = await server.finished(server.start("charging", server.addModule(MODULE)));
  expect(failure).toMatchObject({ type: "TaskNotAuthorizedError" });
});

test("AUTH-36 grants that change while an execution runs count for its next task", async () => {
  const server = new FakeServer();
  using gate = createGate("grants-change");
  server.authz = enforced("*");
  await using _worker = await startTestWorker(server);
  const execution_id = server.start("waiting", server.addModule(MODULE), { input: gate.name });
  await gate.arrived();
  const { generation } = server.row(execution_id);
  // Of an earlier claim: no business of this copy.
  server.send({
    event: "grants",
    data: { execution_id, generation: generation - 1, task_grants: ["*"] },
  });
  server.send({ event: "grants", data: { execution_id, generation, task_grants: ["wait"] } });
  gate.open();
  expect((await server.finished(execution_id)).failure).toMatchObject({
    type: "TaskNotAuthorizedError",
  });
});

test("AUTH-36 when the principal cannot be used, what runs ends and the execution goes back before its next task; nothing is lost", async () => {
  const server = new FakeServer();
  using gate = createGate("principal-gone");
  server.authz = enforced("*");
  await using worker = await startTestWorker(server);
  const execution_id = server.start("waiting", server.addModule(MODULE), { input: gate.name });
  await gate.arrived();
  const { generation } = server.row(execution_id);
  server.send({ event: "grants", data: { execution_id, generation, task_grants: [], hold: true } });
  server.dispatching = false;
  gate.open();
  await server.until(() => server.releases.length > 0);
  expect(server.releases).toMatchObject([{ execution_id, reason: "principal_unavailable" }]);
  expect(server.types(execution_id)).toContain("TASK_COMPLETED");
  expect(server.types(execution_id)).not.toContain("TASK_FAILED");
  await until(() => worker.status().running === 0);

  // The principal is back.
  server.dispatching = true;
  server.start("charging", server.addModule(MODULE));
  expect(await server.finished(execution_id)).toMatchObject({ output: ["waited", "charged"] });
});

test("AUTH-36 a principal that is back before anything stopped lets the execution go on where it is", async () => {
  const server = new FakeServer();
  using gate = createGate("principal-back");
  server.authz = enforced("*");
  await using _worker = await startTestWorker(server);
  const execution_id = server.start("waiting", server.addModule(MODULE), { input: gate.name });
  await gate.arrived();
  const { generation } = server.row(execution_id);
  const held = { execution_id, generation };
  server.send({ event: "grants", data: { ...held, task_grants: [], hold: true } });
  server.send({ event: "grants", data: { ...held, task_grants: ["*"] } });
  gate.open();
  expect(await server.finished(execution_id)).toMatchObject({ output: ["waited", "charged"] });
  expect(server.releases).toEqual([]);
});

test.each([256, 0])(
  "AUTH-35 an execution that goes on after a pause has the rights of its new assignment (%i warm)",
  async (warm_executions) => {
    const server = new FakeServer();
    server.authz = enforced("*");
    await using worker = await startTestWorker(server, { warm_executions });
    const hash = server.addModule(MODULE);
    const ids = [server.start("pausing", hash), server.start("pausing", hash)];
    await server.until(() => ids.every((id) => server.row(id).state === "PAUSED"));
    await until(() => worker.status().running === 0);
    server.authz = enforced("other");
    server.resume(ids[0] ?? "", null);
    expect((await server.finished(ids[0] ?? "")).failure).toMatchObject({
      type: "TaskNotAuthorizedError",
    });
    server.authz = { enforced: false, task_grants: [] };
    server.resume(ids[1] ?? "", null);
    expect(await server.finished(ids[1] ?? "")).toMatchObject({ output: "charged" });
  },
);

test.each([["thread"], ["process"]] as const)(
  "EXE-5 AUTH-39 AUTH-42 a task in a %s gets the token of its claim, and no line of the log has it",
  async (kind) => {
    const server = new FakeServer();
    server.authz = enforced("*");
    let made = 0;
    server.assignedToken = () => ({
      token: `engine_et_${++made}`,
      expires_at: new Date(Date.now() + 3_600_000).toISOString(),
    });
    await using worker = await startTestWorker(server, {
      runners: [kind],
      default_runner: kind,
    });
    const id = server.start("asking", server.addModule(MODULE));
    await server.until(() => server.row(id).state === "PAUSED");
    await until(() => worker.status().running === 0);
    server.resume(id, null);
    expect(await server.finished(id)).toMatchObject({ output: ["engine_et_1", "engine_et_2"] });
    expect(worker.lines.join("\n")).not.toContain("engine_et_");
  },
);

test("AUTH-42 a token that is over is renewed by the claim holder, and a claim that is not its own ends the copy", async () => {
  const server = new FakeServer();
  using gate = createGate("token-renewed");
  server.authz = enforced("*");
  server.assignedToken = () => ({ token: "old", expires_at: "2026-01-01T00:00:00.000Z" });
  server.newToken = (id) => ({
    token: `new of ${id}`,
    expires_at: new Date(Date.now() + 3_600_000).toISOString(),
  });
  await using worker = await startTestWorker(server);
  const hash = server.addModule(MODULE);
  const id = server.start("askingTwice", hash, { input: gate.name });
  await gate.arrived();
  gate.open();
  const token = `new of ${id}`;
  expect(await server.finished(id)).toMatchObject({ output: [token, "waited", token] });

  const asked: string[] = [];
  server.before = (call) => {
    if (call === "executionToken" && asked.push(call) === 1) server.takeAway(lost);
  };
  server.dispatching = false;
  server.newToken = () => ({ token: "short", expires_at: "2026-01-01T00:00:00.000Z" });
  server.dispatching = true;
  const lost = server.start("askingTwice", hash, { input: gate.name });
  await until(() => worker.lines.some((line) => line.includes("stale_claim")));
  expect(asked.length).toBeGreaterThan(0);
});
