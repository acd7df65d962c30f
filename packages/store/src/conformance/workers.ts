import type { OperatorAttributes } from "@engine/contract";
import { expect, test } from "vitest";
import type { NewSession } from "../session-record.ts";
import type { Store } from "../store.ts";
import { type Open, opened } from "./opened.ts";
import { claimant, newExecution, newSession } from "./sample.ts";
import { attributesConformance } from "./workers/attributes.ts";

export function conformance(open: Open): void {
  attributesConformance(open);

  test("WRK-1 WMD-6 a worker's name is known from its first session on, with its newest one", async () => {
    const store = await opened(open);
    expect(await store.workers.list()).toEqual([]);
    expect(await store.workers.find("w1")).toBeUndefined();
    const first = await begin(store, "w1", "1");
    expect(await store.workers.find("w1")).toEqual({
      name: "w1",
      desired_state: "active",
      registered_at: first.created_at,
      session: first,
      load: 0,
      attributes: { metadata: {}, granted: [], revision: 0 },
    });
    await store.sessions.end(first.session_id, "disconnected");
    const ended = await store.sessions.find(first.session_id);
    expect((await store.workers.find("w1"))?.session).toEqual(ended);
    expect(ended?.ended_at).not.toBeNull();

    const second = await begin(store, "w1", "2");
    const worker = await store.workers.find("w1");
    expect(worker).toMatchObject({ registered_at: first.created_at, session: second });
    expect(await store.workers.list()).toEqual([worker]);
  });

  test("WMD-6 workers are listed by name, all or those with each label", async () => {
    const store = await opened(open);
    await begin(store, "c", "3", { labels: { zone: "a", "gpu.kind": "A1" } });
    await begin(store, "B", "2", { labels: { zone: "a" } });
    await begin(store, "a", "1", { labels: { zone: 'b "quoted"' } });
    const names = async (labels: Record<string, string>, name?: string) =>
      (await store.workers.list({ labels, name })).map((worker) => worker.name);
    expect(await names({})).toEqual(["B", "a", "c"]);
    expect(await names({ zone: "a" })).toEqual(["B", "c"]);
    expect(await names({ zone: "a", "gpu.kind": "A1" })).toEqual(["c"]);
    expect(await names({ zone: 'b "quoted"' })).toEqual(["a"]);
    expect(await names({ zone: "A" })).toEqual([]);
    expect(await names({ "gpu.kind": "a" })).toEqual([]);
    expect(await names({}, "B")).toEqual(["B"]);
    expect(await names({ zone: "b" }, "B")).toEqual([]);
    const among = async (some: readonly string[], labels: Record<string, string> = {}) =>
      (await store.workers.list({ labels, names: some })).map(({ name }) => name);
    expect(await among(["c", "a", "z"])).toEqual(["a", "c"]);
    expect(await among(["c", "a"], { zone: "a" })).toEqual(["c"]);
    expect(await among([])).toEqual([]);
  });

  test("DSP-3 a worker's load is what it owns, counted from the executions themselves", async () => {
    const store = await opened(open);
    const { session_id } = await begin(store, "w1", "1");
    await begin(store, "w2", "2");
    const owner = { ...claimant, worker: "w1", session: session_id };
    for (const n of [1, 2, 3]) await store.executions.create(newExecution(n), owner);
    await store.executions.create(newExecution(4));
    const loads = (await store.workers.list()).map(({ name, load }) => [name, load]);
    expect(loads).toEqual([
      ["w1", 3],
      ["w2", 0],
    ]);
  });

  test("WRK-11 a paused worker stays paused over its sessions, until that is undone", async () => {
    const store = await opened(open);
    expect(await store.workers.desire("w1", "paused")).toBeUndefined();
    const { session_id } = await begin(store, "w1", "1");
    const paused = await store.workers.desire("w1", "paused");
    expect(paused).toMatchObject({ name: "w1", desired_state: "paused", session: { session_id } });
    await begin(store, "w1", "2");
    expect(await store.workers.find("w1")).toMatchObject({ desired_state: "paused" });
    expect(await store.workers.desire("w1", "active")).toEqual(await store.workers.find("w1"));
    expect(await store.workers.find("w1")).toMatchObject({ desired_state: "active" });
  });

  test("WRK-12 a drained worker serves again with its next process, not with the same one", async () => {
    const store = await opened(open);
    await begin(store, "w1", "1");
    await store.workers.desire("w1", "draining");
    await begin(store, "w1", "1");
    expect(await store.workers.find("w1")).toMatchObject({ desired_state: "draining" });
    await begin(store, "w1", "2");
    expect(await store.workers.find("w1")).toMatchObject({ desired_state: "active" });
  });

  test("a worker can be forgotten once its session has ended or was lost", async () => {
    const store = await opened(open);
    expect(await store.workers.delete("w1")).toBeUndefined();
    const { session_id } = await begin(store, "w1", "1");
    expect(await store.workers.delete("w1")).toBe(false);
    await store.sessions.connect(session_id, "replica-1");
    await store.sessions.disconnect(session_id, 1);
    expect(await store.workers.delete("w1")).toBe(false);
    expect(await store.workers.find("w1")).toBeDefined();
    await store.sessions.lose(session_id, 1);
    expect(await store.workers.delete("w1")).toBe(true);
    expect(await store.workers.find("w1")).toBeUndefined();
    expect(await store.sessions.find(session_id)).toBeUndefined();
    expect(await store.sessions.listLive()).toEqual([]);

    const again = await store.sessions.open(processOf("w1", "1"));
    expect(again).toMatchObject({ is_new_worker: true, continued: false });
    await store.sessions.end(again.session.session_id, "lost");
    expect(await store.workers.delete("w1")).toBe(true);
  });

  test("WMD-6 names that were offline for long are forgotten, unless something was said of them", async () => {
    const store = await opened(open);
    await begin(store, "live", "1");
    const lost = await begin(store, "lost", "2");
    await store.sessions.lose(lost.session_id, 0);
    for (const name of ["ended", "paused", "drained", "returned", "described", "granted"]) {
      const { session_id } = await begin(store, name, name);
      await store.sessions.end(session_id, "disconnected");
    }
    await store.workers.desire("paused", "paused");
    await store.workers.desire("drained", "draining");
    const say = (name: string, said: Partial<OperatorAttributes>) =>
      store.workers.changeAttributes(name, (held) => ({ ...held, ...said }));
    await say("described", { metadata: { tier: "gold" } });
    await say("granted", { granted: ["inference"] });
    await begin(store, "returned", "again");
    const later = lost.created_at + 60_000;
    expect(await store.workers.deleteUnused(lost.created_at, 10)).toEqual([]);
    expect(await store.workers.deleteUnused(later, 1)).toEqual(["drained"]);
    expect(await store.workers.deleteUnused(later, 10)).toEqual(["ended", "lost"]);
    expect(await store.workers.deleteUnused(later, 10)).toEqual([]);
    const left = await store.workers.list();
    expect(left.map(({ name }) => name)).toEqual([
      ...["described", "granted", "live", "paused", "returned"],
    ]);
    expect(await store.sessions.find(lost.session_id)).toBeUndefined();
    await say("described", { metadata: {} });
    await say("granted", { granted: [] });
    expect(await store.workers.deleteUnused(later, 10)).toEqual(["described", "granted"]);
  });
}

function processOf(worker: string, process: string, fields: Partial<NewSession> = {}): NewSession {
  return newSession(`session-${process}`, { worker, instance_id: process, ...fields });
}

async function begin(
  store: Store,
  worker: string,
  process: string,
  fields: Partial<NewSession> = {},
) {
  const { session } = await store.sessions.open(processOf(worker, process, fields));
  return session;
}
