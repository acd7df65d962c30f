import { expect, test } from "vitest";
import { settled } from "../testing/manual-time.ts";
import { heartbeat, registration } from "../testing/scripted-worker.ts";
import { hello, TestEngine } from "../testing/start-engine.ts";

const OTHER_PROCESS = "01900000-0000-7000-8000-000000000002";

test("WRK-2 a worker that speaks another protocol is told which ones the server speaks", async () => {
  await using t = await TestEngine.start();
  const { workers } = t.engine;
  for (const protocol of [0, -1, 3, 9]) {
    await expect(workers.register(registration("w", { protocol }))).rejects.toMatchObject({
      code: "incompatible_worker",
      details: { supported: [2, 1] },
    });
  }
});

test("WRK-2 WRK-3 a worker of the protocol before is let in, and told the server's number", async () => {
  await using t = await TestEngine.start();
  const { workers } = t.engine;
  for (const protocol of [1, 2]) {
    const answer = await workers.register(registration(`w${protocol}`, { protocol }));
    expect(answer).toMatchObject({ protocol: 2 });
  }
});

test("WRK-2 labels of the engine and a default runner it does not have are refused", async () => {
  await using t = await TestEngine.start();
  const { workers } = t.engine;
  const labels = { "engine.x": "1" };
  await expect(workers.register(registration("w", { labels }))).rejects.toMatchObject({
    code: "reserved_label",
  });
  const wrong = registration("w", { runners: ["inline"], default_runner: "thread" });
  await expect(workers.register(wrong)).rejects.toMatchObject({
    code: "invalid_input",
    details: { issues: [{ path: "body.default_runner" }] },
  });
});

test("WRK-3 a session works for its own worker name and no other", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker("a");
  await t.worker("b");
  const said = heartbeat();
  const beat = (ref: object) => t.engine.workers.heartbeat({ ...worker.ref, ...ref }, said);
  await expect(beat({ worker: "b" })).rejects.toMatchObject({ code: "permission_denied" });
  await expect(beat({ session: "guess" })).rejects.toMatchObject({ code: "session_unknown" });
  expect(await beat({})).toMatchObject({ drop: [] });
});

test("WRK-3 the store never sees the secret of a session", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const [session] = await t.store.sessions.listLive();
  expect(JSON.stringify(session)).not.toContain(worker.ref.session);
});

test("WRK-4 the same process registers again and keeps its executions under a new secret", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  await t.run();
  const assigned = await worker.next("assign");
  const old = worker.ref;
  await worker.register();
  const beat = heartbeat();
  await expect(t.engine.workers.heartbeat(old, beat)).rejects.toMatchObject({
    code: "session_unknown",
  });
  expect(await worker.completed(assigned, 1)).toMatchObject({ state: "COMPLETED" });
});

test("WRK-4 another process takes over the name: the old one is told and its work moves on", async () => {
  await using t = await TestEngine.start();
  const old = await t.worker("w");
  await t.run();
  const before = await old.next("assign");
  await old.started(before);

  const fresh = t.strangeWorker("w");
  await fresh.register({ instance_id: OTHER_PROCESS, host: "there", pid: 7 });
  expect(await old.next("superseded")).toEqual({ host: "there", pid: 7 });
  await old.connection?.closed;
  await expect(old.completed(before, 1)).rejects.toMatchObject({ code: "session_superseded" });

  await fresh.connect();
  const after = await fresh.next("assign");
  expect(after).toMatchObject({
    execution_id: before.execution_id,
    generation: 2,
    reason: "recover",
  });
  expect(await fresh.completed(after, 2)).toMatchObject({ state: "COMPLETED", seq: 6 });
});

test("WRK-4 nothing is lost when a claim is on its way to a worker that is being replaced", async () => {
  await using t = await TestEngine.start();
  await t.worker("w");
  const starting = t.run();
  const fresh = t.strangeWorker("w");
  await fresh.register({ instance_id: OTHER_PROCESS });
  const { execution_id } = await starting;
  await fresh.connect();
  const assigned = await fresh.next("assign");
  expect(assigned).toMatchObject({ execution_id, generation: 1 });
  expect(await fresh.completed(assigned, 1)).toMatchObject({ state: "COMPLETED" });
});

test("WRK-7 a second connect of a session replaces the first stream", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const first = worker.connection;
  await worker.connect();
  await first?.closed;
  await t.run();
  expect(await worker.next("assign")).toMatchObject({ generation: 1 });
  // The end of the first stream is no loss of the session.
  await t.time.advance(5_000);
  expect(worker.heard.filter((event) => event === "assign")).toHaveLength(1);
});

test("WRK-7 an open stream brings a ping each heartbeat interval, so that a worker can tell a broken one", async () => {
  await using t = await TestEngine.start({ workers: { heartbeat_interval: 5 } });
  const worker = await t.worker();
  await t.time.advance(4_999);
  expect(worker.heard).toEqual(["welcome"]);
  await t.time.advance(1);
  expect(worker.heard).toEqual(["welcome", "ping"]);
  await t.time.advance(10_000);
  expect(worker.heard).toEqual(["welcome", "ping", "ping", "ping"]);
});

test("WRK-9 a worker that reconnects within the grace keeps what it runs, with what it missed", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const { execution_id } = await t.run();
  const assigned = await worker.next("assign");
  const pause = { name: "answer" };
  await worker.checkpoint(assigned, 2, "RUNNING", [
    worker.event(assigned, "WORKFLOW_STARTED", null),
    worker.pauseEvent("TASK_STARTED", pause),
    worker.pauseEvent("TASK_PAUSED", pause),
  ]);
  worker.connection?.close();
  await t.engine.executions.resume({ execution_id, input: 1, by: null });
  await t.time.advance(500);
  const welcome = await worker.connect([{ execution_id, generation: 1, seq: 5 }]);
  expect(welcome).toMatchObject({ keep: [{ execution_id, generation: 1 }], drop: [] });
  const missed = await worker.next("events");
  expect(missed).toMatchObject({ base_seq: 5 });
  expect(missed.events.map(({ seq }) => seq)).toEqual([6, 7]);
  await t.time.advance(5_000);
  expect(await t.row(execution_id)).toMatchObject({ state: "RUNNING", generation: 1 });
});

test("WRK-9 what was assigned while the stream was down goes back to the queue", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const { execution_id } = await t.run();
  await worker.next("assign");
  // The frame never arrived: the worker does not list it.
  worker.connection?.close();
  expect(await worker.connect()).toMatchObject({ keep: [], drop: [] });
  expect(await worker.next("assign")).toMatchObject({ execution_id, generation: 2 });
});

test("LIV-2 a closed stream hands over after the grace, and the old worker is fenced", async () => {
  await using t = await TestEngine.start();
  const lost = await t.worker("a");
  const { execution_id } = await t.run();
  const before = await lost.next("assign");
  await lost.started(before);
  const other = await t.worker("b");
  await t.time.advance(5_000);
  lost.connection?.close();
  await t.time.advance(999);
  expect(await t.row(execution_id)).toMatchObject({ worker: "a" });
  await t.time.advance(1);
  const after = await other.next("assign");
  expect(after).toMatchObject({ execution_id, generation: 2, reason: "recover", head: 4 });
  // I6: the partitioned worker wakes up and tries to finish what it thinks is its own.
  expect(await lost.completed({ ...before, head: 3 }, 1)).toMatchObject({
    error: { code: "stale_claim", details: { state: "CLAIMED", generation: 2 } },
  });
  expect(await other.completed(after, 2)).toMatchObject({ state: "COMPLETED" });
  expect((await t.row(execution_id)).output).toBe(2);
});

test("LIV-2 an open stream without any request is lost after the silence timeout", async () => {
  await using t = await TestEngine.start();
  const silent = await t.worker("a");
  const { execution_id } = await t.run();
  await silent.next("assign");
  const other = await t.worker("b");
  for (let s = 0; s < 25; s += 5) {
    await t.time.advance(5_000);
    await other.beat();
  }
  expect(await t.row(execution_id)).toMatchObject({ worker: "a" });
  await t.time.advance(5_000);
  await silent.connection?.closed;
  expect(await other.next("assign")).toMatchObject({ execution_id, generation: 2 });
});

test("LIV-2 heartbeats keep a session for as long as they come", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const { execution_id } = await t.run();
  for (let minute = 0; minute < 20; minute++) {
    await t.time.advance(20_000);
    await worker.beat([{ execution_id, generation: 1, seq: 2 }]);
  }
  expect(await t.row(execution_id)).toMatchObject({ worker: "w", generation: 1 });
});

test("LIV-3 WRK-9 a lost worker comes back and goes on with what nobody took, nothing runs twice", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const { execution_id } = await t.run();
  const assigned = await worker.next("assign");
  await worker.started(assigned);
  worker.connection?.close();
  await t.time.advance(60_000);
  expect(await t.row(execution_id)).toMatchObject({ state: "CREATED", worker: null });
  const welcome = await worker.connect([{ execution_id, generation: 1, seq: 3 }]);
  expect(welcome).toMatchObject({ keep: [{ execution_id, generation: 2 }], drop: [] });
  const missed = await worker.next("events");
  expect(missed.events).toMatchObject([{ seq: 4, type: "WORKFLOW_CLAIMED" }]);
  await settled();
  expect(worker.heard.filter((event) => event === "assign")).toHaveLength(1);
  const again = { ...assigned, generation: 2, head: 4, reason: "recover" as const };
  expect(await worker.completed(again, 1)).toMatchObject({ state: "COMPLETED" });
});

test("WRK-9 a worker is told to drop what another one took or what is unknown", async () => {
  await using t = await TestEngine.start();
  const slow = await t.worker("a");
  const { execution_id } = await t.run();
  await slow.next("assign");
  const other = await t.worker("b");
  slow.connection?.close();
  await t.time.advance(1_000);
  await other.next("assign");
  const unknown = { execution_id: "nobody-knows", generation: 3, seq: 1 };
  await expect(slow.connect([{ execution_id, generation: 1, seq: 2 }])).resolves.toMatchObject({
    keep: [],
    drop: [{ execution_id, generation: 1 }],
  });
  await expect(slow.connect([unknown])).resolves.toMatchObject({
    drop: [{ execution_id: "nobody-knows", generation: 3 }],
  });
});

test("LIV-1 a heartbeat tells which executions are not the session's any more", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const { execution_id } = await t.run();
  const running = [
    { execution_id, generation: 1, seq: 2 },
    { execution_id: "other", generation: 1, seq: 1 },
  ];
  const answer = await worker.beat(running);
  expect(answer.drop).toEqual([{ execution_id: "other", generation: 1 }]);
});

test("LIV-2 a server restart hands nothing over: the worker reconnects and finishes", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const { execution_id } = await t.run();
  const assigned = await worker.next("assign");
  await worker.started(assigned);
  const repeated = worker.event(assigned, "WORKFLOW_STARTED", null);
  await t.restart();
  await t.time.advance(20_000);
  expect(await t.row(execution_id)).toMatchObject({ state: "RUNNING", generation: 1 });

  const back = t.strangeWorker("w");
  back.ref = worker.ref;
  // CKP-3: the answer to this one was lost with the old server.
  expect(await back.checkpoint(assigned, 2, "RUNNING", [repeated])).toMatchObject({ seq: 3 });
  const welcome = await back.connect([{ execution_id, generation: 1, seq: 3 }]);
  expect(welcome.keep).toEqual([{ execution_id, generation: 1 }]);
  expect(
    await back.checkpoint(assigned, 3, "COMPLETED", [
      back.event(assigned, "WORKFLOW_COMPLETED", 1),
    ]),
  ).toMatchObject({ state: "COMPLETED" });
});

test("LIV-2 after a server restart a worker that is gone loses its work at the silence timeout", async () => {
  await using t = await TestEngine.start();
  await t.worker("gone");
  const { execution_id } = await t.run();
  await t.restart();
  const other = await t.worker("b");
  await t.time.advance(15_000);
  await other.beat();
  await t.time.advance(15_000);
  expect(await other.next("assign")).toMatchObject({ execution_id, generation: 2 });
  // The session itself stays: its worker may come back.
  const sessions = await t.store.sessions.listLive();
  expect(sessions.filter(({ lost_at }) => lost_at === null).map(({ worker }) => worker)).toEqual([
    "b",
  ]);
});

test("LIV-6 a workflow that does not load ends FAILED with the worker's reason", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const { execution_id } = await t.run();
  await worker.next("assign");
  const error = {
    type: "WorkflowLoadError",
    code: "workflow_load",
    message: "no export is named hello",
    retryable: false,
    details: null,
    cause: null,
    attempts: 1,
    task_call_id: null,
  };
  const released = await t.engine.workers.release(worker.ref, [
    { execution_id, generation: 1, reason: "load_failed", error },
    { execution_id: "other", generation: 1, reason: "draining" },
  ]);
  expect(released).toMatchObject([
    { execution_id, ok: true },
    { execution_id: "other", error: { code: "not_found" } },
  ]);
  expect(await t.row(execution_id)).toMatchObject({ state: "FAILED", failure: error });
});

test("LIV-5 what a draining worker gives back does not return to it", async () => {
  await using t = await TestEngine.start();
  const leaving = await t.worker("a");
  const { execution_id } = await t.run();
  await leaving.next("assign");
  await t.engine.workers.release(leaving.ref, [
    { execution_id, generation: 1, reason: "draining" },
  ]);
  await settled();
  expect(await t.row(execution_id)).toMatchObject({ state: "CREATED", worker: null });
  const other = await t.worker("b");
  expect(await other.next("assign")).toMatchObject({ execution_id, generation: 2 });
});

test("LIV-5 an overloaded worker gets nothing more until it says that it has room", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const { execution_id } = await t.run();
  await worker.next("assign");
  await t.engine.workers.release(worker.ref, [
    { execution_id, generation: 1, reason: "overloaded" },
  ]);
  await settled();
  expect(await t.row(execution_id)).toMatchObject({ state: "CREATED", worker: null });
  await worker.beat();
  expect(await worker.next("assign")).toMatchObject({ execution_id, generation: 2 });
});

test("a worker that says goodbye leaves its work to others at once", async () => {
  await using t = await TestEngine.start();
  const leaving = await t.worker("a");
  const { execution_id } = await t.run();
  const other = await t.worker("b");
  await t.engine.workers.disconnect(leaving.ref);
  expect(await other.next("assign")).toMatchObject({ execution_id, generation: 2 });
  await expect(leaving.connect()).rejects.toMatchObject({ code: "session_unknown" });
});

test("CKP-2 CKP-4 after the hand-over a checkpoint is refused, an exact repeat is told the stored state", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const { execution_id } = await t.run();
  const assigned = await worker.next("assign");
  await worker.started(assigned);
  await t.engine.workers.release(worker.ref, [
    { execution_id, generation: 1, reason: "overloaded" },
  ]);
  expect(await worker.started(assigned)).toMatchObject({ seq: 3, state: "CREATED" });
  const event = worker.event(assigned, "WORKFLOW_COMPLETED", 1);
  expect(await worker.checkpoint(assigned, 3, "COMPLETED", [event])).toMatchObject({
    error: { code: "stale_claim" },
  });
  expect(await t.types(execution_id)).toHaveLength(3);
});

test("CKP-3 a gap is refused with the head of the log", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  await t.run();
  const assigned = await worker.next("assign");
  const event = worker.event(assigned, "WORKFLOW_COMPLETED", 1);
  expect(await worker.checkpoint(assigned, 7, "COMPLETED", [event])).toMatchObject({
    error: { code: "seq_gap", details: { head: 2 } },
  });
});

test("CKP-5 a refused item does not touch the others, and no execution comes twice", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  await t.run();
  const assigned = await worker.next("assign");
  const good = {
    execution_id: assigned.execution_id,
    generation: 1,
    base_seq: 2,
    state: "RUNNING" as const,
    events: [worker.event(assigned, "WORKFLOW_STARTED", null)],
  };
  const answers = await t.engine.workers.checkpoints(worker.ref, [
    { ...good, execution_id: "nobody" },
    good,
  ]);
  expect(answers).toMatchObject([{ error: { code: "not_found" } }, { seq: 3, state: "RUNNING" }]);
  await expect(t.engine.workers.checkpoints(worker.ref, [good, good])).rejects.toMatchObject({
    code: "invalid_input",
  });
});

test("CKP-5 when the commit itself fails the whole request is to be sent again", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  await t.run();
  const assigned = await worker.next("assign");
  await t.store.close();
  await expect(worker.started(assigned)).rejects.toMatchObject({ code: "unavailable" });
});

test("I17 a hand-over that failed while the database was away is made good at the safety tick", async () => {
  await using t = await TestEngine.start();
  const lost = await t.worker("a");
  const { execution_id } = await t.run();
  const other = await t.worker("b");
  t.failing.add("queue.listOwned");
  lost.connection?.close();
  await t.time.advance(1_000);
  expect(await t.row(execution_id)).toMatchObject({ worker: "a" });
  t.failing.clear();
  await t.time.advance(15_000);
  expect(await other.next("assign")).toMatchObject({ execution_id, generation: 2 });
});

test("I17 an assignment that could not be sent goes back to the queue", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  t.failing.add("catalog.readModule");
  const { execution_id } = await t.run();
  await worker.connection?.closed;
  t.failing.clear();
  await worker.connect();
  expect(await worker.next("assign")).toMatchObject({ execution_id, generation: 2 });
});

test("a worker reads the bundle and the log of what it owns, and of nothing else", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker("a");
  const other = await t.worker("b");
  const { execution_id } = await t.run();
  const { module } = await worker.next("assign");
  const { workers } = t.engine;
  const bundle = await workers.module(worker.ref, module.hash);
  expect(Buffer.byteLength(bundle)).toBe(module.bytes);
  await expect(workers.module(other.ref, module.hash)).rejects.toMatchObject({
    code: "not_found",
  });
  const page = { generation: 1, after: 1, limit: 10 };
  const log = await workers.events(worker.ref, execution_id, page);
  expect(log).toMatchObject({ events: [{ seq: 2 }], head: 2 });
  await expect(workers.events(other.ref, execution_id, page)).rejects.toMatchObject({
    code: "stale_claim",
  });
});

test("a restarted server still serves the bundle of what a live session owns", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  await t.run();
  const { module } = await worker.next("assign");
  await t.restart();
  expect(await t.engine.workers.module(worker.ref, module.hash)).toContain("hello");
});

test("a stopping server sends its workers away", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  await t.engine.close();
  expect(await worker.next("control")).toEqual({ command: "reconnect", delay_seconds: 0.5 });
  await worker.connection?.closed;
  await expect(worker.connect()).rejects.toMatchObject({ code: "unavailable" });
});

test("I16 after everything has ended no slot is taken", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker("w", { slots: 2 });
  const runs = Array.from({ length: 20 }, () => t.engine.executions.startAndWait(hello()));
  const stop = new AbortController();
  void (async () => {
    for (let i = 0; i < runs.length; i++) await worker.completed(await worker.next("assign"), i);
    stop.abort();
  })();
  const ended = await Promise.all(runs);
  expect(ended.every(({ row }) => row.state === "COMPLETED")).toBe(true);
  await settled();
  const [a, b, c] = [await t.run(), await t.run(), await t.run()];
  expect([a, b, c].map(({ state }) => state)).toEqual(["CLAIMED", "CLAIMED", "CREATED"]);
});
