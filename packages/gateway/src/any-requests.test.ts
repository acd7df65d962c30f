/** `FUZZ_RUNS` sets how many courses of events the property sees. */
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { Condition } from "./condition.ts";
import { EndpointList } from "./endpoint-list.ts";
import { ManualTiming } from "./testing/manual-timing.ts";
import { resolvedService } from "./testing/resolved-service.ts";

const NAMES = ["a", "b", "c", "d"] as const;
const numRuns = Number(process.env["FUZZ_RUNS"] ?? 150);

const event = fc.record({
  after: fc.integer({ min: 0, max: 120 }),
  what: fc.constantFrom("ask", "ask", "ask", "register", "remove", "doubt"),
  name: fc.constantFrom(...NAMES),
});
const course = fc.record({
  ttlMs: fc.constantFrom(0, 50, 60_000),
  /** How long each fetch takes, over and over. */
  lengths: fc.array(fc.integer({ min: 0, max: 400 }), { minLength: 1, maxLength: 4 }),
  events: fc.array(event, { minLength: 1, maxLength: 40 }),
});

interface Fetched {
  readonly began: number;
  ended: number | undefined;
  /** What the server had when it began. */
  readonly names: readonly string[];
}

type Course = typeof course extends fc.Arbitrary<infer C> ? C : never;

/** Plays a course of events, and gives back the rules that were broken. */
async function broken({ ttlMs, lengths, events }: Course): Promise<readonly string[]> {
  const timing = new ManualTiming();
  const served = new Set<string>();
  const fetches: Fetched[] = [];
  const problems: string[] = [];
  let underWay = 0;
  let open = 0;
  const list = new EndpointList({
    service: "billing",
    timing,
    ttlMs,
    condition: new Condition(),
    fetch: async () => {
      if (++underWay > 1) problems.push("two fetches at a time");
      const fetched: Fetched = { began: timing.time, ended: undefined, names: [...served] };
      const length = lengths[fetches.push(fetched) % lengths.length] ?? 0;
      await new Promise<void>((resolve) => void timing.setTimer(resolve, length));
      underWay--;
      fetched.ended = timing.time;
      return { service: resolvedService(fetched.names), etag: undefined };
    },
  });
  const ask = async (name: string) => {
    const asked = timing.time;
    open++;
    const isPassed = await list.admit(name, undefined).then(
      () => true,
      () => false,
    );
    open--;
    const last = fetches.findLast(({ ended }) => ended !== undefined);
    if (!isPassed && last?.names.includes(name)) problems.push("refused what the last list has");
    if (!isPassed && (last?.ended ?? -1) < asked) problems.push("refused by an old list");
    if (timing.time - asked > 250 + 2 * Math.max(...lengths)) problems.push("waited too long");
  };
  for (const { after, what, name } of events) {
    await timing.pass(after);
    if (what === "ask") void ask(name);
    else if (what === "register") served.add(name);
    else if (what === "remove") served.delete(name);
    else list.doubt();
  }
  await timing.pass(5_000);
  if (open > 0) problems.push("somebody waits for ever");
  if (timing.pending > 0) problems.push("a timer is left");
  return problems;
}

test("GW-17 GW-18 whatever comes when, one fetch is under way at a time and nobody is refused by an old list", async () => {
  await fc.assert(
    fc.asyncProperty(course, async (events) => {
      expect(await broken(events)).toEqual([]);
    }),
    { numRuns },
  );
});
