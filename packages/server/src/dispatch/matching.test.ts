/** `PROPERTY_RUNS` sets how many random fleets are judged. */
import type { Loss, Requirements, WorkerResources } from "@engine/contract";
import * as fc from "fast-check";
import { expect, test, vi } from "vitest";
import { FleetWorker, queued, TestFleet } from "./testing/test-fleet.ts";

const numRuns = Number(process.env["PROPERTY_RUNS"] ?? 1_500);
vi.setConfig({ testTimeout: 30_000 + numRuns * 20 });

const label = (key: string, op: "eq" | "ne", value: string) =>
  ({ of: "label", key, op, value }) as const;
const meta = (key: string, op: "eq" | "ne", value: string | number) =>
  ({ of: "meta", key, op, value }) as const;

const NEEDS: readonly (Requirements | null)[] = [
  null,
  { affinity: [label("zone", "eq", "a")] },
  { affinity: [label("zone", "eq", "b"), meta("tier", "eq", 1)] },
  { affinity: [label("zone", "ne", "a")] },
  { affinity: [meta("tier", "eq", "1")] },
  { affinity: [meta("tier", "ne", 1), meta("tier", "ne", 2)] },
  { affinity: [meta("hot", "eq", "yes"), label("zone", "ne", "b")] },
  { affinity: [label("engine.service.gpu", "eq", "true"), meta("tier", "eq", 2)] },
  { affinity: [{ of: "unknown" }] },
  { worker: "w1" },
  { worker: "w2", affinity: [meta("hot", "eq", "yes")] },
  { prefers: "w3" },
  { runner: "process" },
  { requests: { cpu: 1 } },
  { requests: { cpu: 2 }, affinity: [label("zone", "eq", "a")] },
  { requests: { memory: 2 }, affinity: [label("zone", "ne", "b")] },
  { hidden: { plain: { affinity: [meta("hot", "eq", "yes")] } } },
  {
    hidden: {
      plain: { routing: [{ kind: "most", selector: { kind: "meta", key: "tier" }, weight: 2 }] },
    },
  },
  { routing: [{ kind: "sticky", weight: 1 }], prefers: "w2" },
  {
    affinity: [label("zone", "eq", "a")],
    routing: [
      { kind: "least", selector: { kind: "load" }, weight: 1 },
      { kind: "prefer", left: { kind: "meta", key: "hot" }, op: "eq", right: "yes", weight: 0.5 },
    ],
  },
];

const LOSSES: readonly (string | null)[] = [
  null,
  null,
  null,
  lost([{ reason: "unready" }]),
  lost([{ reason: "runner_lost" }]),
  lost(Array.from({ length: 8 }, () => ({ reason: "session_lost", uncounted: true }))),
];

function lost(losses: readonly Pick<Loss, "reason" | "uncounted">[]): string {
  return JSON.stringify(losses.map((loss) => ({ worker: "w1", generation: 1, at: 0, ...loss })));
}

function resources(cpu: number, memory: number): WorkerResources {
  const disk = { disk_total: 1, disk_free: 1, gpus: [] };
  return { cpu_total: 4, cpu_available: cpu, memory_total: 4, memory_available: memory, ...disk };
}

/** Attributes of workers: labels and metadata of a few keys. */
const attributes = fc.record({
  labels: fc.dictionary(
    fc.constantFrom("zone", "engine.service.gpu"),
    fc.constantFrom("a", "b", "true"),
  ),
  metadata: fc.dictionary(fc.constantFrom("tier", "hot"), fc.constantFrom(1, 2, "1", "yes")),
});

const name = fc.integer({ min: 0, max: 4 }).map((n) => `w${n}`);
const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant("start"),
      needs: fc.constantFrom(...NEEDS),
      priority: fc.integer({ min: 0, max: 1 }),
      last_worker: fc.option(name, { nil: null }),
      losses: fc.constantFrom(...LOSSES),
      isFresh: fc.boolean(),
      queued_at: fc.integer({ min: 0, max: 3 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("join"),
      name,
      slots: fc.integer({ min: 0, max: 3 }),
      isProcess: fc.boolean(),
      cpu: fc.option(fc.integer({ min: 0, max: 4 }), { nil: null }),
      attributes,
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("leave"), name }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("pause"), name, isOn: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("relabel"), name, attributes }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("beat"),
      name,
      cpu: fc.integer({ min: 0, max: 4 }),
      memory: fc.integer({ min: 0, max: 4 }),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("finish"), name }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("cancel"), at: fc.nat(30) }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant("give"), most: fc.constantFrom(1, 2, 99) }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

function take(fleet: TestFleet, one: Step, n: number): void {
  const find = (name: string) => fleet.workers.find(({ worker }) => worker === name);
  if ("needs" in one) {
    const { needs, priority, last_worker, queued_at, losses, isFresh } = one;
    const id = `e${String(n).padStart(3, "0")}`;
    const was = losses === null ? {} : { losses };
    const generation = isFresh && losses === null ? 0 : 1;
    fleet.add(queued(id, { needs, priority, last_worker, queued_at, generation, ...was }));
  } else if ("slots" in one) {
    if (find(one.name)) return;
    const resourced = one.cpu === null ? {} : { resources: resources(one.cpu, one.cpu) };
    const runners = one.isProcess ? (["thread", "process"] as const) : (["thread"] as const);
    const rest = { slots: one.slots, runners, ...one.attributes, ...resourced };
    fleet.join(new FleetWorker(one.name, rest));
  } else if ("at" in one) {
    const id = [...fleet.waiting.keys()][one.at];
    if (id !== undefined) fleet.cancel(id);
  } else if ("most" in one) {
    give(fleet, one.most);
  } else {
    const worker = find(one.name);
    if (!worker) return;
    if ("isOn" in one) fleet.change(worker, { takesWork: one.isOn });
    else if ("attributes" in one) fleet.change(worker, one.attributes);
    else if ("cpu" in one) fleet.change(worker, { resources: resources(one.cpu, one.memory) });
    else if (one.kind === "leave") fleet.leave(worker);
    else {
      const [oldest] = worker.running.keys();
      if (oldest !== undefined) fleet.finish(worker, oldest);
    }
  }
}

/** Gives out so many, each of which must be the one that would be found by asking about everything. */
function give(fleet: TestFleet, most: number): void {
  for (let n = 0; n < most; n++) {
    const expected = fleet.expected();
    const match = fleet.give();
    const given = match && {
      execution_id: match.entry.execution_id,
      worker: match.candidate.worker,
      score: match.score,
    };
    expect(given).toEqual(expected);
    if (!match) return;
  }
}

test("DSP-11 DSP-12 whatever happens to workers, every execution goes where asking about everything would send it", () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 5, maxLength: 60 }), (steps) => {
      const fleet = new TestFleet();
      for (const [n, one] of steps.entries()) take(fleet, one, n);
      give(fleet, Number.POSITIVE_INFINITY);
    }),
    { numRuns },
  );
});
