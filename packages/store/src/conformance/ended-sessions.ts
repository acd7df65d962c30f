import { expect, test } from "vitest";
import { type Open, opened } from "./opened.ts";
import { newSession } from "./sample.ts";

export function endedSessionConformance(open: Open): void {
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
