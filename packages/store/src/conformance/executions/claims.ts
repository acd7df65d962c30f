import { decideClaim } from "@engine/contract";
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

function claim(store: Store, n: number, guard: SessionGuard): Promise<Changed> {
  const { session } = guard;
  return store.executions.change(
    executionId(n),
    (row) => decideClaim(row, { worker: `worker-${session}`, session, now: NOW }),
    { guard },
  );
}
