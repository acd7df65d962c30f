import { decideClaim, type Metadata } from "@engine/contract";
import { expect, test } from "vitest";
import type { Changed, SessionGuard } from "../../ports/executions.ts";
import type { Store } from "../../store.ts";
import { type Open, opened } from "../opened.ts";
import { executionId, NOW, newExecution, newSession } from "../sample.ts";

export function claimConformance(open: Open): void {
  test("DSP-3 a claim holds while its session has the epoch it was thought to have", async () => {
    const store = await opened(open);
    const epoch = await connected(store, "s1");
    await store.executions.create(newExecution(1));
    await store.executions.create(newExecution(2));
    const { row, events } = await claim(store, 1, { session: "s1", epoch, active: true });
    expect(row).toMatchObject({ state: "CLAIMED", session: "s1", generation: 1 });
    expect(events).toMatchObject([{ type: "WORKFLOW_CLAIMED" }]);

    const next = await store.sessions.connect("s1", "another replica");
    const late = await claim(store, 2, { session: "s1", epoch, active: true });
    expect(late).toMatchObject({ row: { state: "CREATED", session: null }, events: [] });
    const again = await claim(store, 2, { session: "s1", epoch: next?.epoch ?? 0, active: true });
    expect(again.row).toMatchObject({ state: "CLAIMED", generation: 1 });
  });

  test("DSP-3 while its session is not as thought nothing is decided, and the row is the answer", async () => {
    const store = await opened(open);
    const epoch = await connected(store, "ended");
    const { row } = await store.executions.create(newExecution(1));
    await store.sessions.end("ended", "disconnected");
    await connected(store, "lost", epoch);
    await store.sessions.lose("lost", epoch);
    for (const session of ["ended", "lost", "nobody's"]) {
      const changed = await store.executions.change(
        executionId(1),
        () => expect.unreachable("its guard does not hold"),
        { guard: { session, epoch } },
      );
      expect(changed).toMatchObject({ row, events: [], others: [], unchanged: true });
    }
    await expect(
      store.executions.change(executionId(9), () => undefined, {
        guard: { session: "lost", epoch },
      }),
    ).rejects.toMatchObject({ code: "not_found" });
  });

  test("DSP-3 a worker that an operator has paused is given nothing, and keeps what it has", async () => {
    const store = await opened(open);
    const epoch = await connected(store, "s1");
    await store.executions.create(newExecution(1));
    for (const desired of ["paused", "draining"] as const) {
      await store.workers.desire("worker-s1", desired);
      const refused = await claim(store, 1, { session: "s1", epoch, active: true });
      expect(refused).toMatchObject({ row: { state: "CREATED" }, events: [] });
    }
    await store.workers.desire("worker-s1", "active");
    expect((await claim(store, 1, { session: "s1", epoch, active: true })).events).toHaveLength(1);
    await store.workers.desire("worker-s1", "paused");
    const kept = await store.executions.change(
      executionId(1),
      () => ({ events: [], patch: { name: "still mine" } }),
      { guard: { session: "s1", epoch } },
    );
    expect(kept.row).toMatchObject({ session: "s1", name: "still mine" });
  });

  test("DSP-3 an execution is created without its claim when the session is not as thought", async () => {
    const store = await opened(open);
    const epoch = await connected(store, "s1");
    const claimant = { worker: "worker-s1", session: "s1", now: NOW };
    const create = (n: number, of: { readonly epoch?: number }) =>
      store.executions.create(newExecution(n), { ...claimant, ...of });
    const stale = await create(1, { epoch: epoch + 1 });
    expect(stale.row).toMatchObject({ state: "CREATED", session: null, generation: 0, head: 1 });
    expect(await store.executions.find(executionId(1))).toEqual(stale.row);
    expect((await create(2, { epoch })).row).toMatchObject({ state: "CLAIMED", session: "s1" });
    await store.workers.desire("worker-s1", "paused");
    expect((await create(3, { epoch })).row).toMatchObject({ state: "CREATED", session: null });
    // A local run's process has no session here: nobody is asked.
    expect((await create(4, {})).row).toMatchObject({ state: "CLAIMED", session: "s1" });
  });

  test("DSP-3 WMD-2 a claim judged by an older revision of metadata or grants writes nothing", async () => {
    const store = await opened(open);
    const epoch = await connected(store, "s1");
    await store.executions.create(newExecution(1));
    const by = (attributes?: number): SessionGuard => ({
      ...{ session: "s1", epoch, active: true },
      ...(attributes !== undefined && { attributes }),
    });
    expect(await describe(store, "s1", { tier: "gold" })).toBe(1);
    for (const other of [0, 2]) {
      const refused = await claim(store, 1, by(other));
      expect(refused).toMatchObject({ row: { state: "CREATED" }, events: [], unchanged: true });
    }
    const unread = await store.executions.change(executionId(1), () => ({
      ...{ events: [], patch: { name: "whoever" } },
    }));
    expect(unread.row.name).toBe("whoever");
    expect((await claim(store, 1, by(1))).row).toMatchObject({ state: "CLAIMED", session: "s1" });
    // What read none of them asks for nothing.
    await store.executions.create(newExecution(2));
    await describe(store, "s1", { tier: "silver" });
    expect((await claim(store, 2, by())).row).toMatchObject({ state: "CLAIMED" });
  });

  test("DSP-3 WMD-2 an execution is created without its claim when that read an older revision", async () => {
    const store = await opened(open);
    const epoch = await connected(store, "s1");
    const claimant = { worker: "worker-s1", session: "s1", now: NOW, epoch };
    const create = (n: number, attributes?: number) =>
      store.executions.create(newExecution(n), {
        ...claimant,
        ...(attributes !== undefined && { attributes }),
      });
    expect((await create(1, 0)).row).toMatchObject({ state: "CLAIMED", session: "s1" });
    await describe(store, "s1", { tier: "gold" });
    const stale = await create(2, 0);
    expect(stale.row).toMatchObject({ state: "CREATED", session: null, generation: 0, head: 1 });
    expect(await store.executions.find(executionId(2))).toEqual(stale.row);
    const together = await Promise.all([create(3, 1), create(4, 0), create(5), create(6, 2)]);
    expect(together.map(({ row }) => row.session)).toEqual(["s1", null, "s1", null]);
  });

  test("WMD-2 a write of metadata comes before a claim, which is refused then, or after it", async () => {
    const store = await opened(open);
    const epoch = await connected(store, "s1");
    for (let n = 1; n <= 20; n++) {
      const revision = n - 1;
      await store.executions.create(newExecution(n));
      const guard = { session: "s1", epoch, active: true, attributes: revision };
      const early = n % 2 ? claim(store, n, guard) : undefined;
      const written = describe(store, "s1", { n });
      const { row, events } = await (early ?? claim(store, n, guard));
      expect(await written).toBe(n);
      expect([row.state, events.length]).toEqual(row.session ? ["CLAIMED", 1] : ["CREATED", 0]);
      // Whatever begins after the answer of the write is judged by it.
      await store.executions.create(newExecution(100 + n));
      const after = await claim(store, 100 + n, guard);
      expect(after).toMatchObject({ row: { state: "CREATED" }, unchanged: true });
    }
  });

  test("WMD-2 what a forgotten name was judged by counts for nobody who has the name after it", async () => {
    const store = await opened(open);
    const of = (session_id: string) => newSession(session_id, { worker: "w" });
    await store.sessions.open(of("before"));
    const before = await store.sessions.connect("before", "this replica");
    await describe(store, "before", { tier: "gold" }, "w");
    await store.sessions.end("before", "disconnected");
    expect(await store.workers.delete("w")).toBe(true);
    await store.sessions.open(of("after"));
    const after = await store.sessions.connect("after", "this replica");
    // The same revision, and the same epoch, of another life of the name.
    expect(await describe(store, "after", { tier: "none" }, "w")).toBe(1);
    await store.executions.create(newExecution(1));
    const guard = { session: "before", epoch: before?.epoch ?? -1, attributes: 1 };
    expect(await claim(store, 1, guard)).toMatchObject({ unchanged: true });
    const own = { session: "after", epoch: after?.epoch ?? -1, attributes: 1 };
    expect((await claim(store, 1, own)).row.session).toBe("after");
  });

  test("DSP-3 of what is asked together each is judged by its own session", async () => {
    const store = await opened(open);
    const [a, b] = [await connected(store, "a"), await connected(store, "b")];
    const ns = [1, 2, 3, 4, 5, 6];
    await Promise.all(ns.map((n) => store.executions.create(newExecution(n))));
    const changes = await Promise.all(
      ns.map((n) =>
        n % 2
          ? claim(store, n, { session: "a", epoch: a, active: true })
          : claim(store, n, { session: "b", epoch: n === 4 ? b + 7 : b, active: true }),
      ),
    );
    expect(changes.map(({ row }) => row.session)).toEqual(["a", "b", "a", null, "a", "b"]);
  });
}

/** Begins a session whose stream a server holds; answers its epoch. */
async function connected(store: Store, session_id: string, atLeast = 0): Promise<number> {
  await store.sessions.open(newSession(session_id));
  for (;;) {
    const session = await store.sessions.connect(session_id, "this replica");
    if (session && session.epoch >= atLeast) return session.epoch;
  }
}

/** Writes metadata of a session's worker; answers the revision. */
async function describe(
  store: Store,
  session: string,
  metadata: Metadata,
  worker = `worker-${session}`,
): Promise<number> {
  const written = await store.workers.changeAttributes(worker, (held) => ({ ...held, metadata }));
  return written?.attributes.revision ?? -1;
}

function claim(store: Store, n: number, guard: SessionGuard): Promise<Changed> {
  const { session } = guard;
  return store.executions.change(
    executionId(n),
    (row) => decideClaim(row, { worker: `worker-${session}`, session, now: NOW }),
    { guard },
  );
}
