import { expect, test } from "vitest";
import type { NewSession } from "../store.ts";
import { type Open, opened } from "./opened.ts";
import { claimant, executionId, newExecution } from "./sample.ts";

export function sessionConformance(open: Open): void {
  test("WRK-3 a registered worker has a live session, found by its secret's hash", async () => {
    const store = await opened(open);
    const fresh = newSession("w1", "process-1");
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
    const first = await store.openSession(newSession("w1", "process-1", { slots: 4 }));
    const again = newSession("w1", "process-1", { slots: 8, token_hash: "new", session_id: "s9" });
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
    const begun = newSession("w1", "process-1", { labels: { gpu: "yes", zone: "a" } });
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
    const { session } = await store.openSession(newSession("w1", "process-1"));
    const owner = { ...claimant, session: session.session_id };
    await store.createExecution(newExecution(1), owner);
    const second = await store.openSession(newSession("w1", "process-2"));
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
      [1, 2, 3].map((n) => store.openSession(newSession("w1", `process-${n}`))),
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
    const { session } = await store.openSession(newSession("w1", "process-1"));
    await store.endSession(session.session_id, "lost");
    await store.endSession(session.session_id, "disconnected");
    await store.endSession("nobody's", "lost");
    const ended = await store.findSession("w1", session.token_hash);
    expect(ended).toMatchObject({ end_reason: "lost", ended_at: expect.any(Number) });
    expect(await store.listLiveSessions()).toEqual([]);
    const again = newSession("w1", "process-1", { session_id: "s2", token_hash: "t2" });
    const { session: next, ...opening } = await store.openSession(again);
    expect(opening).toEqual({ is_new_worker: false, continued: false, superseded: undefined });
    expect(next.session_id).toBe("s2");
  });

  test("sessions that were heard of are noted; the time never goes back", async () => {
    const store = await opened(open);
    const a = (await store.openSession(newSession("a", "process-a"))).session;
    const b = (await store.openSession(newSession("b", "process-b"))).session;
    const at = a.last_seen_at + 1_000;
    await store.touchSessions([a.session_id, "nobody's"], at);
    await store.touchSessions([a.session_id], at - 500);
    const live = await store.listLiveSessions();
    expect(live.map((s) => s.last_seen_at)).toEqual([at, b.last_seen_at]);
    const before = store.statementCount();
    await store.touchSessions([], at);
    expect(store.statementCount()).toBe(before);
  });
}

function newSession(
  worker: string,
  instance_id: string,
  fields: Partial<NewSession> = {},
): NewSession {
  return {
    session_id: `session-of-${instance_id}`,
    token_hash: `secret-of-${instance_id}`,
    worker,
    instance_id,
    host: "here",
    pid: 42,
    labels: { zone: "a" },
    slots: 64,
    runners: ["thread"],
    default_runner: "thread",
    ...fields,
  };
}
