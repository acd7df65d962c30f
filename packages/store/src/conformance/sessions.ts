import { expect, test } from "vitest";
import type { NewSession, SaidByWorker } from "../store.ts";
import { type Open, opened } from "./opened.ts";
import { claimant, executionId, newExecution, newSession } from "./sample.ts";

export function sessionConformance(open: Open): void {
  test("WRK-3 a registered worker has a live session, found by its secret's hash", async () => {
    const store = await opened(open);
    const fresh = processOf("w1", "process-1");
    const { session, is_new_worker, continued, superseded } = await store.openSession(fresh);
    expect(session).toMatchObject({ ...fresh, ended_at: null, end_reason: null });
    expect(session.created_at).toBe(session.last_seen_at);
    expect({ is_new_worker, continued, superseded }).toEqual({
      is_new_worker: true,
      continued: false,
      superseded: undefined,
    });
    expect(await store.findSession("w1", fresh.token_hash)).toEqual(session);
    expect(await store.findSession("w2", fresh.token_hash)).toBeUndefined();
    expect(await store.findSession("w1", "another secret")).toBeUndefined();
    expect(await store.listLiveSessions()).toEqual([session]);
  });

  test("WRK-4 the same process again continues its session under the new secret", async () => {
    const store = await opened(open);
    const first = await store.openSession(processOf("w1", "process-1", { slots: 4 }));
    const again = processOf("w1", "process-1", { slots: 8, token_hash: "new", session_id: "s9" });
    const second = await store.openSession(again);
    expect(second).toMatchObject({ is_new_worker: false, continued: true, superseded: undefined });
    const { session_id } = first.session;
    expect(second.session).toMatchObject({ session_id, slots: 8, token_hash: "new" });
    expect(await store.findSession("w1", "new")).toEqual(second.session);
    expect(await store.findSession("w1", first.session.token_hash)).toBeUndefined();
    expect(await store.listLiveSessions()).toEqual([second.session]);
  });

  test("WRK-4 a session goes on with the labels it began with", async () => {
    const store = await opened(open);
    const begun = processOf("w1", "process-1", { labels: { gpu: "yes", zone: "a" } });
    const { session } = await store.openSession(begun);
    const reordered = { ...begun, labels: { zone: "a", gpu: "yes" } };
    await expect(store.openSession(reordered)).resolves.toMatchObject({ continued: true });
    await expect(store.openSession({ ...begun, labels: { gpu: "yes" } })).rejects.toMatchObject({
      code: "labels_immutable",
    });
    expect(await store.listLiveSessions()).toMatchObject([
      { session_id: session.session_id, labels: begun.labels },
    ]);
  });

  test("WRK-4 another process of the same name ends the earlier session, not its executions", async () => {
    const store = await opened(open);
    const { session } = await store.openSession(processOf("w1", "process-1"));
    const owner = { ...claimant, session: session.session_id };
    await store.createExecution(newExecution(1), owner);
    const second = await store.openSession(processOf("w1", "process-2"));
    expect(second).toMatchObject({ is_new_worker: false, continued: false });
    expect(second.superseded).toMatchObject({
      session_id: session.session_id,
      end_reason: "superseded",
    });
    expect(await store.findSession("w1", session.token_hash)).toEqual(second.superseded);
    expect(await store.listLiveSessions()).toEqual([second.session]);
    expect(await store.findExecution(executionId(1))).toMatchObject({
      session: session.session_id,
    });
  });

  test("WRK-4 of processes that register a name at once, one is left", async () => {
    const store = await opened(open);
    const all = await Promise.all(
      [1, 2, 3].map((n) => store.openSession(processOf("w1", `process-${n}`))),
    );
    expect(all.map(({ superseded }) => superseded?.instance_id)).toEqual([
      undefined,
      "process-1",
      "process-2",
    ]);
    expect(await store.listLiveSessions()).toEqual([all[2]?.session]);
  });

  test("a session that ended keeps its reason, and its process begins a new one", async () => {
    const store = await opened(open);
    const { session } = await store.openSession(processOf("w1", "process-1"));
    await store.endSession(session.session_id, "lost");
    await store.endSession(session.session_id, "disconnected");
    await store.endSession("nobody's", "lost");
    const ended = await store.findSession("w1", session.token_hash);
    expect(ended).toMatchObject({ end_reason: "lost", ended_at: expect.any(Number) });
    expect(await store.listLiveSessions()).toEqual([]);
    const again = processOf("w1", "process-1", { session_id: "s2", token_hash: "t2" });
    const { session: next, ...opening } = await store.openSession(again);
    expect(opening).toEqual({ is_new_worker: false, continued: false, superseded: undefined });
    expect(next.session_id).toBe("s2");
  });

  test("WRK-1 everything a process says of itself is kept with its session", async () => {
    const store = await opened(open);
    const fresh = processOf("w1", "process-1", {
      dispatch: "poll",
      engine_version: "9.8.7",
      runtime: { os: "darwin", arch: "arm64", node: "24.1.0" },
      resources: {
        cpu_total: 8,
        cpu_available: 1.5,
        memory_total: 2 ** 34,
        memory_available: 2 ** 33,
        disk_total: 2 ** 40,
        disk_free: 7,
        gpus: [{ name: "A1", memory_total: 2 ** 35 }],
      },
      packages: [{ name: "sharp", version: "1.2.3" }],
      services: ["inference"],
    });
    const { session } = await store.openSession(fresh);
    expect(session).toEqual({
      ...fresh,
      created_at: session.created_at,
      last_seen_at: session.created_at,
      said: null,
      replica: null,
      epoch: 0,
      connected_at: null,
      disconnected_at: null,
      lost_at: null,
      ended_at: null,
      end_reason: null,
    });
    expect(await store.findSessionById(session.session_id)).toEqual(session);
    expect(await store.findSessionById("nobody's")).toBeUndefined();
  });

  test("LIV-3 each server that takes a session's stream begins a new epoch", async () => {
    const store = await opened(open);
    const { session } = await store.openSession(processOf("w1", "process-1"));
    const first = await store.connectSession(session.session_id, "replica-1");
    expect(first).toMatchObject({ epoch: 1, replica: "replica-1", disconnected_at: null });
    expect(first?.connected_at).toBeGreaterThanOrEqual(session.created_at);
    const second = await store.connectSession(session.session_id, "replica-2");
    expect(second).toMatchObject({ epoch: 2, replica: "replica-2" });
    expect(await store.listLiveSessions()).toEqual([second]);
    expect(await store.connectSession("nobody's", "replica-1")).toBeUndefined();
  });

  test("WRK-4 a process that registers again keeps the stream it has", async () => {
    const store = await opened(open);
    const fresh = processOf("w1", "process-1");
    const { session } = await store.openSession(fresh);
    const connected = await store.connectSession(session.session_id, "replica-1");
    const again = await store.openSession({ ...fresh, session_id: "s9", token_hash: "new" });
    const { epoch, replica, connected_at } = again.session;
    expect({ epoch, replica, connected_at }).toEqual({
      epoch: 1,
      replica: "replica-1",
      connected_at: connected?.connected_at,
    });
    expect(await store.findSessionById(session.session_id)).toEqual(again.session);
  });

  test("LIV-2 a stream that closes is noted by the server that held it, and by no other", async () => {
    const store = await opened(open);
    const { session_id } = (await store.openSession(processOf("w1", "process-1"))).session;
    await store.connectSession(session_id, "replica-1");
    await store.connectSession(session_id, "replica-2");
    expect(await store.disconnectSession(session_id, 1)).toBe(false);
    expect(await store.findSessionById(session_id)).toMatchObject({ disconnected_at: null });
    expect(await store.disconnectSession(session_id, 2)).toBe(true);
    expect(await store.findSessionById(session_id)).toMatchObject({
      epoch: 2,
      replica: null,
      disconnected_at: expect.any(Number),
      ended_at: null,
    });
    expect(await store.disconnectSession("nobody's", 0)).toBe(false);
  });

  test("LIV-3 a session is lost once, unless a server has taken its stream since", async () => {
    const store = await opened(open);
    const { session_id } = (await store.openSession(processOf("w1", "process-1"))).session;
    await store.connectSession(session_id, "replica-1");
    await store.connectSession(session_id, "replica-2");
    expect(await store.loseSession(session_id, 1)).toBeUndefined();
    const both = await Promise.all([
      store.loseSession(session_id, 2),
      store.loseSession(session_id, 2),
    ]);
    const [lost, ...more] = both.filter((one) => one !== undefined);
    expect(more).toEqual([]);
    expect(lost).toMatchObject({ epoch: 3, replica: null, lost_at: expect.any(Number) });
    expect(lost?.ended_at).toBeNull();
    expect(await store.loseSession(session_id, 3)).toBeUndefined();
    expect(await store.disconnectSession(session_id, 2)).toBe(false);

    const back = await store.connectSession(session_id, "replica-1");
    expect(back).toMatchObject({ epoch: 4, lost_at: null, disconnected_at: null });
    expect(await store.findSession("w1", back?.token_hash ?? "")).toEqual(back);
  });

  test("WRK-4 whoever held the stream of a session that ended holds nothing any more", async () => {
    const store = await opened(open);
    const { session } = await store.openSession(processOf("w1", "process-1"));
    await store.connectSession(session.session_id, "replica-1");
    const { superseded } = await store.openSession(processOf("w1", "process-2"));
    expect(superseded).toMatchObject({ epoch: 2, replica: "replica-1" });
    expect(await store.findSessionById(session.session_id)).toEqual(superseded);
    expect(await store.connectSession(session.session_id, "replica-1")).toBeUndefined();
    expect(await store.disconnectSession(session.session_id, 2)).toBe(false);
    expect(await store.loseSession(session.session_id, 2)).toBeUndefined();
  });

  test("WRK-4 a name that three processes took from each other is refused to a fourth", async () => {
    const store = await opened(open);
    await store.noteReplica("replica-1");
    const begin = async (n: number, connected = true) => {
      const { session } = await store.openSession(processOf("w1", `process-${n}`));
      if (connected) await store.connectSession(session.session_id, "replica-1");
      return session;
    };
    // Ends of sessions that had no stream, or none any more, are no fight.
    await begin(1, false);
    const second = await begin(2);
    await store.disconnectSession(second.session_id, 1);
    for (const n of [3, 4, 5, 6]) await begin(n);
    const refused = await begin(7).catch((error: unknown) => error);
    expect(refused).toMatchObject({
      code: "worker_name_in_use",
      details: { worker: "w1", retry_after_seconds: expect.any(Number) },
    });
    const { retry_after_seconds = 0 } = (refused as { details: { retry_after_seconds?: number } })
      .details;
    expect(retry_after_seconds).toBeGreaterThan(50);
    expect(retry_after_seconds).toBeLessThanOrEqual(60);
    expect(await store.listLiveSessions()).toMatchObject([{ instance_id: "process-6" }]);
    // The one that has the name goes on, and so does everybody else.
    const again = await store.openSession(processOf("w1", "process-6"));
    expect(again.continued).toBe(true);
    await expect(store.openSession(processOf("w2", "process-8"))).resolves.toBeDefined();
  });

  test("WRK-4 processes that were connected to servers which are gone did not fight", async () => {
    const store = await opened(open);
    for (const n of [1, 2, 3, 4, 5, 6]) {
      await store.noteReplica(`replica-${n}`);
      const { session } = await store.openSession(processOf("w1", `process-${n}`));
      await store.connectSession(session.session_id, `replica-${n}`);
      await store.removeReplica(`replica-${n}`);
    }
    expect(await store.listLiveSessions()).toMatchObject([{ instance_id: "process-6" }]);
  });

  test("LIV-1 what was heard of sessions is noted at once for all; what comes late changes nothing", async () => {
    const store = await opened(open);
    const a = (await store.openSession(processOf("a", "process-a"))).session;
    const b = (await store.openSession(processOf("b", "process-b"))).session;
    const at = a.last_seen_at + 1_000;
    const before = store.statementCount();
    await store.noteBeats([]);
    expect(store.statementCount()).toBe(before);
    await store.noteBeats([
      { session_id: b.session_id, at, said: says(3) },
      { session_id: a.session_id, at, said: says(1) },
      { session_id: "nobody's", at, said: says(9) },
    ]);
    await store.noteBeats([
      { session_id: a.session_id, at: at - 500, said: says(2) },
      { session_id: b.session_id, at: at + 1 },
    ]);
    const heard = async () =>
      (await store.listLiveSessions()).map(({ last_seen_at, said }) => [last_seen_at - at, said]);
    expect(await heard()).toEqual([
      [0, says(1)],
      [1, says(3)],
    ]);
    // A heartbeat that came to one server while the worker asked another one for something.
    await store.noteBeats([{ session_id: b.session_id, at: at + 2 }]);
    await store.noteBeats([{ session_id: b.session_id, at: at + 1, said: says(4) }]);
    expect((await heard())[1]).toEqual([2, says(4)]);
  });

  test("LIV-1 what is heard after a clock was set back counts from then on", async () => {
    const store = await opened(open);
    const { session } = await store.openSession(processOf("a", "process-a"));
    const { session_id, last_seen_at } = session;
    const ahead = last_seen_at + 3_600_000;
    await store.noteBeats([{ session_id, at: ahead, said: says(1) }]);
    // What another server heard just before is older; an hour is no delay of anybody's.
    await store.noteBeats([{ session_id, at: ahead - 5_000, said: says(2) }]);
    expect(await store.findSessionById(session_id)).toMatchObject({ said: says(1) });
    await store.noteBeats([{ session_id, at: last_seen_at + 10, said: says(3) }]);
    expect(await store.connectSession(session_id, "replica-1")).toMatchObject({ said: says(3) });
    await store.noteBeats([{ session_id, at: last_seen_at + 20 }]);
    expect(await store.findSessionById(session_id)).toMatchObject({
      last_seen_at: last_seen_at + 20,
      said: says(3),
    });
  });

  test("LIV-1 of two beats of one session in one note the later one counts", async () => {
    const store = await opened(open);
    const { session_id, last_seen_at } = (await store.openSession(processOf("a", "p"))).session;
    await store.noteBeats([
      { session_id, at: last_seen_at + 20, said: says(2) },
      { session_id, at: last_seen_at + 10, said: says(1) },
      { session_id, at: last_seen_at + 30 },
    ]);
    expect(await store.findSessionById(session_id)).toMatchObject({
      last_seen_at: last_seen_at + 30,
      said: says(2),
    });
  });

  test("a session that has ended keeps what was heard of it last", async () => {
    const store = await opened(open);
    const { session } = await store.openSession(processOf("a", "process-a"));
    const at = session.last_seen_at + 5;
    await store.noteBeats([{ session_id: session.session_id, at, said: says(1) }]);
    await store.endSession(session.session_id, "disconnected");
    await store.noteBeats([{ session_id: session.session_id, at: at + 5, said: says(2) }]);
    expect(await store.findSessionById(session.session_id)).toMatchObject({
      last_seen_at: at,
      said: says(1),
      end_reason: "disconnected",
    });
  });
}

function says(slots_free: number): SaidByWorker {
  return {
    status: "active",
    healthy: true,
    slots_free,
    metrics: { "engine.loop_lag_seconds": 0.25 },
    resources: null,
    stuck_threads: 0,
    clock_offset_ms: -250,
  };
}

function processOf(
  worker: string,
  instance_id: string,
  fields: Partial<NewSession> = {},
): NewSession {
  return newSession(`session-of-${instance_id}`, {
    worker,
    instance_id,
    token_hash: `secret-of-${instance_id}`,
    labels: { zone: "a" },
    ...fields,
  });
}
