import { type Assignment, type Event, stale, type WorkerProtocol } from "@engine/contract";
import { expect, test } from "vitest";
import { textCalls } from "../link/text-link.ts";
import { FakeServer } from "../testing/fake-server.ts";
import { createTestSession } from "../testing/test-session.ts";
import { readMissing } from "./missing-history.ts";

type Read = WorkerProtocol["events"];
type Page = Parameters<Read>[2];

/** Reads what is missing of a log of that many events, through a server's answers to its pages. */
function read(missing: number, from: number, answer: (page: Page) => Promise<readonly Event[]>) {
  const asked: Page[] = [];
  const events: Read = async (_ref, _id, page) => {
    asked.push(page);
    return { events: await answer(page), head: missing + 1 };
  };
  const link: WorkerProtocol = Object.assign(new FakeServer(), { events });
  const assignment = {
    execution_id: "e",
    generation: 7,
    history: { after: missing, events: [] as Event[] },
  } as Assignment;
  const session = createTestSession(link);
  return {
    asked,
    pages: readMissing(assignment, from, { link: textCalls(link), session, tries: 3 }),
  };
}

function eventsIn({ after, limit }: Page): Event[] {
  return Array.from({ length: limit }, (_, i) => ({ seq: after + i + 1 }) as Event);
}

test("WRK-7 two pages of a long log are on their way at a time, and they come in order", async () => {
  const waiting = new Map<number, () => void>();
  const { asked, pages } = read(4_500, 0, async (page) => {
    // Each odd page is answered when the one behind it was.
    if (page.after % 2_000 === 0 && page.after < 4_000) {
      await new Promise<void>((resolve) => waiting.set(page.after + 1_000, resolve));
    } else waiting.get(page.after)?.();
    return eventsIn(page);
  });
  const events = (await pages).flatMap((text) => (JSON.parse(text) as { events: Event[] }).events);
  expect(events.map(({ seq }) => seq)).toEqual(Array.from({ length: 4_500 }, (_, i) => i + 1));
  expect(asked).toHaveLength(5);
  expect(asked.at(-1)).toEqual({ generation: 7, after: 4_000, limit: 500 });
});

test("RUN-4 a copy that waits is brought only what lies behind its own newest event", async () => {
  const { asked, pages } = read(1_700, 1_690, async (page) => eventsIn(page));
  expect(await pages).toHaveLength(1);
  expect(asked).toEqual([{ generation: 7, after: 1_690, limit: 10 }]);
});

test("a log that is another worker's by now is not read on", async () => {
  const refused = Promise.withResolvers<readonly Event[]>();
  const { asked, pages } = read(10_000, 0, async (page) => {
    if (page.after === 0) throw stale({ execution_id: "e", generation: 8, worker: "b" } as never);
    return refused.promise;
  });
  await expect(pages).rejects.toMatchObject({ code: "stale_claim" });
  refused.resolve([]);
  await refused.promise;
  expect(asked).toHaveLength(2);
});
