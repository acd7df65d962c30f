import { expect, test } from "vitest";
import type { NewSession } from "../session-record.ts";
import { type Open, opened } from "./opened.ts";
import { claimant, executionId, newExecution, newSession } from "./sample.ts";
import { admitted } from "./sessions/admitted.ts";

export function conformance(open: Open): void {
  admitted(open);

  test("WRK-3 a registered worker has a live session, found by its secret's hash", async () => {
    const store = await opened(open);
    const fresh = processOf("w1", "process-1");
    const { session, is_new_worker, continued, superseded } = await store.sessions.open(fresh);
    expect(session).toMatchObject({ ...fresh, ended_at: null, end_reason: null });
    expect(session.created_at).toBe(session.last_seen_at);
    expect({ is_new_worker, continued, superseded }).toEqual({
      is_new_worker: true,
      continued: false,
      superseded: undefined,
    });
    expect(await store.sessions.findBySecret("w1", fresh.token_hash)).toEqual(session);
    expect(await store.sessions.findBySecret("w2", fresh.token_hash)).toBeUndefined();
    expect(await store.sessions.findBySecret("w1", "another secret")).toBeUndefined();
    expect(await store.sessions.listLive()).toEqual([session]);
  });

  test("WRK-4 the same process again continues its session under the new secret", async () => {
    const store = await opened(open);
    const first = await store.sessions.open(processOf("w1", "process-1", { slots: 4 }));
    const again = processOf("w1", "process-1", { slots: 8, token_hash: "new", session_id: "s9" });
    const second = await store.sessions.open(again);
    expect(second).toMatchObject({ is_new_worker: false, continued: true, superseded: undefined });
    const { session_id } = first.session;
    expect(second.session).toMatchObject({ session_id, slots: 8, token_hash: "new" });
    expect(await store.sessions.findBySecret("w1", "new")).toEqual(second.session);
    expect(await store.sessions.findBySecret("w1", first.session.token_hash)).toBeUndefined();
    expect(await store.sessions.listLive()).toEqual([second.session]);
  });

  test("WRK-4 a session goes on with the labels it began with", async () => {
    const store = await opened(open);
    const begun = processOf("w1", "process-1", { labels: { gpu: "yes", zone: "a" } });
    const { session } = await store.sessions.open(begun);
    const reordered = { ...begun, labels: { zone: "a", gpu: "yes" } };
    await expect(store.sessions.open(reordered)).resolves.toMatchObject({ continued: true });
    await expect(store.sessions.open({ ...begun, labels: { gpu: "yes" } })).rejects.toMatchObject({
      code: "labels_immutable",
    });
    expect(await store.sessions.listLive()).toMatchObject([
      { session_id: session.session_id, labels: begun.labels },
    ]);
  });

  test("WRK-4 another process of the same name ends the earlier session, not its executions", async () => {
    const store = await opened(open);
    const { session } = await store.sessions.open(processOf("w1", "process-1"));
    const owner = { ...claimant, session: session.session_id };
    await store.executions.create(newExecution(1), owner);
    const second = await store.sessions.open(processOf("w1", "process-2"));
    expect(second).toMatchObject({ is_new_worker: false, continued: false });
    expect(second.superseded).toMatchObject({
      session_id: session.session_id,
      end_reason: "superseded",
    });
    expect(await store.sessions.findBySecret("w1", session.token_hash)).toEqual(second.superseded);
    expect(await store.sessions.listLive()).toEqual([second.session]);
    expect(await store.executions.find(executionId(1))).toMatchObject({
      session: session.session_id,
    });
  });

  test("WRK-4 of processes that register a name at once, one is left", async () => {
    const store = await opened(open);
    const all = await Promise.all(
      [1, 2, 3].map((n) => store.sessions.open(processOf("w1", `process-${n}`))),
    );
    expect(all.map(({ superseded }) => superseded?.instance_id)).toEqual([
      undefined,
      "process-1",
      "process-2",
    ]);
    expect(await store.sessions.listLive()).toEqual([all[2]?.session]);
  });

  test("a session that ended keeps its reason, and its process begins a new one", async () => {
    const store = await opened(open);
    const { session } = await store.sessions.open(processOf("w1", "process-1"));
    await store.sessions.end(session.session_id, "lost");
    await store.sessions.end(session.session_id, "disconnected");
    await store.sessions.end("nobody's", "lost");
    const ended = await store.sessions.findBySecret("w1", session.token_hash);
    expect(ended).toMatchObject({ end_reason: "lost", ended_at: expect.any(Number) });
    expect(await store.sessions.listLive()).toEqual([]);
    const again = processOf("w1", "process-1", { session_id: "s2", token_hash: "t2" });
    const { session: next, ...opening } = await store.sessions.open(again);
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
    const { session } = await store.sessions.open(fresh);
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
    expect(await store.sessions.find(session.session_id)).toEqual(session);
    expect(await store.sessions.find("nobody's")).toBeUndefined();
  });

  test("LIV-3 each server that takes a session's stream begins a new epoch", async () => {
    const store = await opened(open);
    const { session } = await store.sessions.open(processOf("w1", "process-1"));
    const first = await store.sessions.connect(session.session_id, "replica-1");
    expect(first).toMatchObject({ epoch: 1, replica: "replica-1", disconnected_at: null });
    expect(first?.connected_at).toBeGreaterThanOrEqual(session.created_at);
    const second = await store.sessions.connect(session.session_id, "replica-2");
    expect(second).toMatchObject({ epoch: 2, replica: "replica-2" });
    expect(await store.sessions.listLive()).toEqual([second]);
    expect(await store.sessions.connect("nobody's", "replica-1")).toBeUndefined();
  });

  test("WRK-4 a process that registers again keeps the stream it has", async () => {
    const store = await opened(open);
    const fresh = processOf("w1", "process-1");
    const { session } = await store.sessions.open(fresh);
    const connected = await store.sessions.connect(session.session_id, "replica-1");
    const again = await store.sessions.open({ ...fresh, session_id: "s9", token_hash: "new" });
    const { epoch, replica, connected_at } = again.session;
    expect({ epoch, replica, connected_at }).toEqual({
      epoch: 1,
      replica: "replica-1",
      connected_at: connected?.connected_at,
    });
    expect(await store.sessions.find(session.session_id)).toEqual(again.session);
  });

  test("LIV-2 a stream that closes is noted by the server that held it, and by no other", async () => {
    const store = await opened(open);
    const { session_id } = (await store.sessions.open(processOf("w1", "process-1"))).session;
    await store.sessions.connect(session_id, "replica-1");
    await store.sessions.connect(session_id, "replica-2");
    expect(await store.sessions.disconnect(session_id, 1)).toBe(false);
    expect(await store.sessions.find(session_id)).toMatchObject({ disconnected_at: null });
    expect(await store.sessions.disconnect(session_id, 2)).toBe(true);
    expect(await store.sessions.find(session_id)).toMatchObject({
      epoch: 2,
      replica: null,
      disconnected_at: expect.any(Number),
      ended_at: null,
    });
    expect(await store.sessions.disconnect("nobody's", 0)).toBe(false);
  });

  test("LIV-3 a session is lost once, unless a server has taken its stream since", async () => {
    const store = await opened(open);
    const { session_id } = (await store.sessions.open(processOf("w1", "process-1"))).session;
    await store.sessions.connect(session_id, "replica-1");
    await store.sessions.connect(session_id, "replica-2");
    expect(await store.sessions.lose(session_id, 1)).toBeUndefined();
    const both = await Promise.all([
      store.sessions.lose(session_id, 2),
      store.sessions.lose(session_id, 2),
    ]);
    const [lost, ...more] = both.filter((one) => one !== undefined);
    expect(more).toEqual([]);
    expect(lost).toMatchObject({ epoch: 3, replica: null, lost_at: expect.any(Number) });
    expect(lost?.ended_at).toBeNull();
    expect(await store.sessions.lose(session_id, 3)).toBeUndefined();
    expect(await store.sessions.disconnect(session_id, 2)).toBe(false);

    const back = await store.sessions.connect(session_id, "replica-1");
    expect(back).toMatchObject({ epoch: 4, lost_at: null, disconnected_at: null });
    expect(await store.sessions.findBySecret("w1", back?.token_hash ?? "")).toEqual(back);
  });

  test("WRK-4 whoever held the stream of a session that ended holds nothing any more", async () => {
    const store = await opened(open);
    const { session } = await store.sessions.open(processOf("w1", "process-1"));
    await store.sessions.connect(session.session_id, "replica-1");
    const { superseded } = await store.sessions.open(processOf("w1", "process-2"));
    expect(superseded).toMatchObject({ epoch: 2, replica: "replica-1" });
    expect(await store.sessions.find(session.session_id)).toEqual(superseded);
    expect(await store.sessions.connect(session.session_id, "replica-1")).toBeUndefined();
    expect(await store.sessions.disconnect(session.session_id, 2)).toBe(false);
    expect(await store.sessions.lose(session.session_id, 2)).toBeUndefined();
  });

  test("WRK-4 a name that three processes took from each other is refused to a fourth", async () => {
    const store = await opened(open);
    await store.replicas.note("replica-1");
    const begin = async (n: number, connected = true) => {
      const { session } = await store.sessions.open(processOf("w1", `process-${n}`));
      if (connected) await store.sessions.connect(session.session_id, "replica-1");
      return session;
    };
    // Ends of sessions that had no stream, or none any more, are no fight.
    await begin(1, false);
    const second = await begin(2);
    await store.sessions.disconnect(second.session_id, 1);
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
    expect(await store.sessions.listLive()).toMatchObject([{ instance_id: "process-6" }]);
    // The one that has the name goes on, and so does everybody else.
    const again = await store.sessions.open(processOf("w1", "process-6"));
    expect(again.continued).toBe(true);
    await expect(store.sessions.open(processOf("w2", "process-8"))).resolves.toBeDefined();
  });

  test("WRK-4 processes that were connected to servers which are gone did not fight", async () => {
    const store = await opened(open);
    for (const n of [1, 2, 3, 4, 5, 6]) {
      await store.replicas.note(`replica-${n}`);
      const { session } = await store.sessions.open(processOf("w1", `process-${n}`));
      await store.sessions.connect(session.session_id, `replica-${n}`);
      await store.replicas.remove(`replica-${n}`);
    }
    expect(await store.sessions.listLive()).toMatchObject([{ instance_id: "process-6" }]);
  });

  test("EXE-98 sessions that ended long ago go, except the newest of each worker", async () => {
    const store = await opened(open);
    const begin = async (worker: string, n: number) => {
      const fresh = newSession(`session-${n}`, { worker, instance_id: `process-${n}` });
      const { session } = await store.sessions.open(fresh);
      await store.beats.note([{ session_id: session.session_id, at: session.created_at }]);
      return session;
    };
    for (const n of [1, 2, 3]) await begin("a", n);
    for (const n of [4, 5]) {
      const { session_id } = await begin("b", n);
      await store.sessions.end(session_id, "disconnected");
    }
    const { created_at } = await begin("c", 6);
    expect(await store.sessions.deleteEnded(created_at - 60_000, 10)).toBe(0);
    expect(await store.sessions.deleteEnded(created_at + 60_000, 2)).toBe(2);
    expect(await store.sessions.deleteEnded(created_at + 60_000, 2)).toBe(1);
    expect(await store.sessions.deleteEnded(created_at + 60_000, 2)).toBe(0);
    const left = (await store.workers.list()).map(({ session }) => session?.session_id);
    expect(left).toEqual(["session-3", "session-5", "session-6"]);
    for (const n of [1, 2, 4]) {
      expect(await store.sessions.find(`session-${n}`)).toBeUndefined();
    }
  });
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
