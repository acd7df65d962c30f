import { expect, test } from "vitest";
import type { NewSession, SaidByWorker } from "../session-record.ts";
import { type Open, opened } from "./opened.ts";
import { newSession } from "./sample.ts";

export function conformance(open: Open): void {
  test("LIV-1 what was heard of sessions is noted at once for all; what comes late changes nothing", async () => {
    const store = await opened(open);
    const a = (await store.sessions.open(processOf("a", "process-a"))).session;
    const b = (await store.sessions.open(processOf("b", "process-b"))).session;
    const at = a.last_seen_at + 1_000;
    const before = store.statementCount();
    await store.beats.note([]);
    expect(store.statementCount()).toBe(before);
    await store.beats.note([
      { session_id: b.session_id, at, said: says(3) },
      { session_id: a.session_id, at, said: says(1) },
      { session_id: "nobody's", at, said: says(9) },
    ]);
    await store.beats.note([
      { session_id: a.session_id, at: at - 500, said: says(2) },
      { session_id: b.session_id, at: at + 1 },
    ]);
    const heard = async () =>
      (await store.sessions.listLive()).map(({ last_seen_at, said }) => [last_seen_at - at, said]);
    expect(await heard()).toEqual([
      [0, says(1)],
      [1, says(3)],
    ]);
    // A heartbeat that came to one server while the worker asked another one for something.
    await store.beats.note([{ session_id: b.session_id, at: at + 2 }]);
    await store.beats.note([{ session_id: b.session_id, at: at + 1, said: says(4) }]);
    expect((await heard())[1]).toEqual([2, says(4)]);
  });

  test("LIV-1 what is heard after a clock was set back counts from then on", async () => {
    const store = await opened(open);
    const { session } = await store.sessions.open(processOf("a", "process-a"));
    const { session_id, last_seen_at } = session;
    const ahead = last_seen_at + 3_600_000;
    await store.beats.note([{ session_id, at: ahead, said: says(1) }]);
    // What another server heard just before is older; an hour is no delay of anybody's.
    await store.beats.note([{ session_id, at: ahead - 5_000, said: says(2) }]);
    expect(await store.sessions.find(session_id)).toMatchObject({ said: says(1) });
    await store.beats.note([{ session_id, at: last_seen_at + 10, said: says(3) }]);
    expect(await store.sessions.connect(session_id, "replica-1")).toMatchObject({ said: says(3) });
    await store.beats.note([{ session_id, at: last_seen_at + 20 }]);
    expect(await store.sessions.find(session_id)).toMatchObject({
      last_seen_at: last_seen_at + 20,
      said: says(3),
    });
  });

  test("LIV-1 of two beats of one session in one note the later one counts", async () => {
    const store = await opened(open);
    const { session_id, last_seen_at } = (await store.sessions.open(processOf("a", "p"))).session;
    await store.beats.note([
      { session_id, at: last_seen_at + 20, said: says(2) },
      { session_id, at: last_seen_at + 10, said: says(1) },
      { session_id, at: last_seen_at + 30 },
    ]);
    expect(await store.sessions.find(session_id)).toMatchObject({
      last_seen_at: last_seen_at + 30,
      said: says(2),
    });
  });

  test("a session that has ended keeps what was heard of it last", async () => {
    const store = await opened(open);
    const { session } = await store.sessions.open(processOf("a", "process-a"));
    const at = session.last_seen_at + 5;
    await store.beats.note([{ session_id: session.session_id, at, said: says(1) }]);
    await store.sessions.end(session.session_id, "disconnected");
    await store.beats.note([{ session_id: session.session_id, at: at + 5, said: says(2) }]);
    expect(await store.sessions.find(session.session_id)).toMatchObject({
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
