import { expect, onTestFinished, test } from "vitest";
import { everything } from "./kept.ts";
import { loadPrograms } from "./load-programs.ts";
import { type Plan, planOf } from "./plan.ts";
import { seedBase } from "./seed-base.ts";
import { simulate } from "./simulate.ts";
import { openSource, type StoreKind } from "./store/open-source.ts";
import type { StoreSource } from "./store/store-source.ts";
import { verdictOn } from "./verdict.ts";

const programs = await loadPrograms(2);
const base = seedBase();

test("I1 to I14 and I16 to I24 hold in 200 simulated runs, whatever breaks in them", async () => {
  expect(await broken("sqlite", 200)).toEqual([]);
});

test("the same on PostgreSQL, in 15 simulated runs", async () => {
  expect(await broken("postgres", 15)).toEqual([]);
});

test("a seed gives the same run each time, to the last happening", async () => {
  for (const plan of [3, 19, 22, 40, 47, 75, 270].map(planOf)) await expectSame(plan);
});

test("so it does on PostgreSQL, however long that takes to answer", async () => {
  const source = await openSource("postgres");
  onTestFinished(() => source.close());
  for (const plan of [3, 19, 40].map(planOf)) await expectSame(plan, source);
});

test("seeds differ: some are calm, and all that can be broken is broken in some", () => {
  const plans = Array.from({ length: 300 }, (_, seed) => planOf(seed));
  const kept = plans.map(everything);
  const isCalm = ({ rates, disturbances }: (typeof kept)[number]) =>
    disturbances.length === 0 && rates.every((kind) => kind === "early" || kind === "pace");
  expect(kept.some(isCalm)).toBe(true);
  const kinds = new Set([
    ...kept.flatMap(({ rates }) => rates),
    ...plans.flatMap(({ disturbances }) => disturbances.map(({ kind }) => kind)),
  ]);
  expect(kinds.size).toBe(20);
  expect(new Set(plans.map(({ servers }) => servers))).toEqual(new Set([1, 2, 3]));
});

/** What seeds of this commit break, as commands that show it. */
async function broken(store: StoreKind, count: number): Promise<string[]> {
  process.stdout.write(`seeds ${base} to ${base + count - 1} on ${store}\n`);
  const source = await openSource(store);
  onTestFinished(() => source.close());
  const found: string[] = [];
  for (let seed = base; seed < base + count; seed++) {
    const { findings } = await verdictOn(await run(planOf(seed), { source }));
    for (const { judge, message } of findings) {
      found.push(`npm run simulate -- --seed ${seed} --store ${store}: ${judge}: ${message}`);
    }
  }
  return found;
}

async function expectSame(plan: Plan, source?: StoreSource): Promise<void> {
  const [first, again] = [
    await run(plan, { source, isTraced: true }),
    await run(plan, { source, isTraced: true }),
  ];
  expect(first.trace.length).toBeGreaterThan(20);
  expect(again.trace).toEqual(first.trace);
  expect(again.steps).toBe(first.steps);
  expect(again.evidence).toEqual(first.evidence);
}

function run(
  plan: Plan,
  options: { readonly source?: StoreSource | undefined; readonly isTraced?: boolean },
): ReturnType<typeof simulate> {
  return simulate(plan, { programs, ...options });
}
