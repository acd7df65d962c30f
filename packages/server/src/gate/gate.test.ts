import { engineFailure, type Need } from "@engine/contract";
import { expect, test } from "vitest";
import { type Needs, UNREADABLE } from "./fits.ts";
import { type Candidate, type Dispatchable, gate, review } from "./gate.ts";
import { readsAttributes } from "./reads-attributes.ts";

function candidate(worker: string, changes: Partial<Candidate> = {}): Candidate {
  return {
    worker,
    runners: ["thread"],
    packages: [],
    labels: {},
    metadata: {},
    resources: null,
    load: 0,
    slots: 0,
    metrics: {},
    hasFreeSlot: true,
    takesWork: true,
    hasPlaceApart: () => true,
    reservations: () => [],
    ...changes,
  };
}

const fresh: Dispatchable = {
  last_worker: null,
  requirements: null,
  was_lost: false,
  suspicion: "none",
};

test("DSP-1 the gate says why an execution waits", () => {
  expect(gate(fresh, [])).toEqual({ kind: "wait", reason: "no_worker" });
  const away = candidate("a", { takesWork: false });
  expect(gate(fresh, [away])).toEqual({ kind: "wait", reason: "workers_unavailable" });
  const full = candidate("b", { hasFreeSlot: false });
  expect(gate(fresh, [full, away])).toEqual({ kind: "wait", reason: "workers_full" });
});

test("DSP-6 the original worker is preferred, then the lowest load, then the name", () => {
  const [a, b, c] = [candidate("a", { load: 2 }), candidate("b"), candidate("c")];
  const choice = (last_worker: string | null, workers: Candidate[]) =>
    gate({ ...fresh, last_worker }, workers);
  expect(choice("a", [c, b, a])).toMatchObject({ candidate: { worker: "a" } });
  expect(choice(null, [c, b, a])).toMatchObject({ candidate: { worker: "b" } });
  const full = candidate("a", { hasFreeSlot: false });
  expect(choice("a", [full, c])).toMatchObject({ candidate: { worker: "c" } });
});

test("DSP-6 where the original worker cannot have it, the preferred one comes before a lower load", () => {
  const workers = [candidate("a"), candidate("b"), candidate("p", { load: 9 })];
  const choice = (over: Partial<Dispatchable>, among = workers) =>
    gate({ ...fresh, requirements: { prefers: "p" }, ...over }, among);
  for (const among of [workers, workers.toReversed()]) {
    expect(choice({}, among)).toMatchObject({ candidate: { worker: "p" } });
    expect(choice({ last_worker: "gone" }, among)).toMatchObject({ candidate: { worker: "p" } });
    expect(choice({ last_worker: "b" }, among)).toMatchObject({ candidate: { worker: "b" } });
    const lost = { last_worker: "b", was_lost: true };
    expect(choice(lost, among)).toMatchObject({ candidate: { worker: "p" } });
    const lostIt = { last_worker: "p", was_lost: true };
    expect(choice(lostIt, among)).toMatchObject({ candidate: { worker: "a" } });
  }
  const full = [...workers.slice(0, 2), candidate("p", { hasFreeSlot: false })];
  expect(choice({}, full)).toMatchObject({ candidate: { worker: "a" } });
});

const meta = (key: string, value: string | number, op: "eq" | "ne" = "eq"): Need => ({
  of: "meta",
  key,
  op,
  value,
});

test("DSP-1 the checks come in their order: principal, needs that cannot be told, then workers", () => {
  const failure = engineFailure("AffinityResolutionError", "it cannot be told");
  const worker = candidate("a");
  const unplaceable = { ...fresh, unplaceable: failure };
  expect(gate(unplaceable, [worker])).toEqual({ kind: "fail", failure });
  expect(gate(unplaceable, [])).toEqual({ kind: "fail", failure });
  const held = { ...unplaceable, isHeld: true };
  expect(gate(held, [worker])).toEqual({ kind: "wait", reason: "principal_unavailable" });
  const picky = { ...fresh, requirements: { affinity: [meta("tier", 1)] } };
  expect(gate(picky, [worker])).toEqual({ kind: "wait", reason: "no_matching_worker" });
  const fit = candidate("b", { metadata: { tier: 1 } });
  expect(gate(picky, [worker, fit])).toMatchObject({ candidate: { worker: "b" } });
  const away = candidate("b", { metadata: { tier: 1 }, takesWork: false });
  expect(gate(picky, [worker, away])).toEqual({ kind: "wait", reason: "workers_unavailable" });
});

test("AFF-2 the original worker is preferred only while it has what is needed", () => {
  const picky = { ...fresh, last_worker: "a", requirements: { affinity: [meta("tier", 1)] } };
  const [a, b] = [candidate("a", { load: 9 }), candidate("b", { metadata: { tier: 1 } })];
  expect(gate(picky, [a, b])).toMatchObject({ candidate: { worker: "b" } });
  const back = candidate("a", { load: 9, metadata: { tier: 1 } });
  expect(gate(picky, [b, back])).toMatchObject({ candidate: { worker: "a" }, score: null });
});

test("RIN-3 hidden terms are checked like others, and no worker has those that cannot be opened", () => {
  const hidden = { affinity: [meta("tenant", "t1")] };
  const worker = candidate("a", { metadata: { tenant: "t1" } });
  expect(gate({ ...fresh, hidden }, [worker])).toMatchObject({ kind: "claim" });
  expect(gate({ ...fresh, hidden }, [candidate("b")]).kind).toBe("wait");
  expect(gate({ ...fresh, hidden: UNREADABLE }, [worker]).kind).toBe("wait");
});

const POLICY = {
  routing: [
    { kind: "prefer", left: { kind: "meta", key: "hot" }, op: "eq", right: "yes", weight: 2 },
    { kind: "sticky", weight: 1 },
  ],
} as const;

test("RTE-4 with a policy the highest score wins, then lower load, then the name", () => {
  const hot = (worker: string, load: number) =>
    candidate(worker, { load, metadata: { hot: "yes" } });
  const choose = (workers: Candidate[]) => gate({ ...fresh, requirements: POLICY }, workers);
  const among = [candidate("a"), hot("d", 3), hot("c", 2), hot("b", 2)];
  for (const workers of [among, among.toReversed()]) {
    expect(choose(workers)).toMatchObject({ candidate: { worker: "b" }, score: 2 });
  }
  expect(choose([candidate("b"), candidate("a")])).toMatchObject({
    ...{ candidate: { worker: "a" }, score: 0 },
  });
  // By code unit, whatever a language says of letters.
  const names = ["a", "ä", "b", "B", "10"].map((name) => hot(name, 1));
  const { eligible } = review({ ...fresh, requirements: POLICY }, names);
  expect(eligible.map((one) => one.candidate.worker)).toEqual(["10", "B", "a", "b", "ä"]);
  const full = { ...hot("c", 0), hasFreeSlot: false };
  expect(choose([candidate("a"), full])).toMatchObject({ candidate: { worker: "a" } });
});

test("RTE-5 with a policy a preference counts only by sticky, and a resume goes to its original worker first", () => {
  const hot = candidate("h", { metadata: { hot: "yes" } });
  const among = [candidate("p"), hot, candidate("a")];
  const choose = (over: Partial<Dispatchable>) =>
    gate({ ...fresh, requirements: { ...POLICY, prefers: "p" }, ...over }, among);
  expect(choose({})).toMatchObject({ candidate: { worker: "h" }, score: 2 });
  expect(choose({ requirements: { routing: [POLICY.routing[1]], prefers: "p" } })).toMatchObject({
    ...{ candidate: { worker: "p" }, score: 1 },
  });
  // The worker of a child's parent is one that it had better have, like a preferred one.
  const child = { last_worker: "p", isFresh: true, requirements: POLICY };
  expect(choose(child)).toMatchObject({ candidate: { worker: "h" }, score: 2 });
  expect(choose({ last_worker: "a" })).toMatchObject({ candidate: { worker: "a" }, score: null });
  const lost = choose({ last_worker: "h", was_lost: true });
  expect(lost).toMatchObject({ candidate: { worker: "p" }, score: 1 });
  expect(
    gate({ ...fresh, requirements: POLICY, last_worker: "h", was_lost: true }, [hot]),
  ).toMatchObject({
    ...{ candidate: { worker: "h" }, score: null },
  });
});

test("RTE-1 RES-2 a policy sees what is left of resources: the lower of what is reported and not reserved", () => {
  const resources = (cpu_available: number) => ({
    ...{ cpu_total: 8, cpu_available, memory_total: 1, memory_available: 1 },
    ...{ disk_total: 1, disk_free: 1, gpus: [] },
  });
  const most = {
    kind: "most",
    selector: { kind: "resource", field: "cpu_available" },
    weight: 1,
  } as const;
  const a = candidate("a", {
    resources: resources(6),
    reservations: () => [{ requests: { cpu: 5 } }],
  });
  const b = candidate("b", { resources: resources(4) });
  const { requirements } = { requirements: { routing: [most] } };
  expect(gate({ ...fresh, requirements }, [a, b])).toMatchObject({ candidate: { worker: "b" } });
  const metric = { kind: "least", selector: { kind: "metric", key: "lag" }, weight: 1 } as const;
  const [c, d] = [candidate("c", { metrics: { lag: 5 } }), candidate("d", { metrics: { lag: 1 } })];
  const byLag = { ...fresh, requirements: { routing: [metric] } };
  expect(gate(byLag, [c, d])).toMatchObject({ candidate: { worker: "d" }, score: 1 });
});

test("DSP-6 candidates in the order of choice are asked only until one passes", () => {
  let asked = 0;
  function* inOrder() {
    for (const name of ["lost", "full", "a", "b"]) {
      asked++;
      yield candidate(name, { hasFreeSlot: name !== "full" });
    }
  }
  const answer = gate({ ...fresh, last_worker: "lost", was_lost: true }, inOrder(), {
    inOrder: true,
  });
  expect(answer).toMatchObject({ candidate: { worker: "a" } });
  expect(asked).toBe(3);
});

test("DSP-1 RTE-6 a review says of each worker what it scores by, or all that it lacks", () => {
  const requirements = {
    ...POLICY,
    runner: "process",
    affinity: [meta("tier", 1), { of: "label", key: "zone", op: "ne", value: "a" }],
    requests: { cpu: 4, packages: ["zod"] },
  } as const;
  const has = {
    runners: ["process"],
    metadata: { tier: 1, hot: "yes", tenant: "t1" },
    packages: [{ name: "zod", version: "4.0.0" }],
  } satisfies Partial<Candidate>;
  const poor = {
    ...{ cpu_total: 2, cpu_available: 2, memory_total: 1, memory_available: 1 },
    ...{ disk_total: 1, disk_free: 1, gpus: [] },
  };
  const hidden = { affinity: [meta("tenant", "t1")] };
  const execution = { ...fresh, requirements, hidden };
  const { eligible, rejected } = review(execution, [
    candidate("unfit", { labels: { zone: "a" }, resources: poor }),
    candidate("fit", { ...has, load: 3 }),
    candidate("cold", { ...has, metadata: { tier: 1, tenant: "t1" } }),
    candidate("paused", { ...has, takesWork: false }),
    candidate("full", { ...has, hasFreeSlot: false }),
    candidate("busy", {
      ...has,
      resources: { ...poor, cpu_total: 8, cpu_available: 8 },
      reservations: () => [{ requests: { cpu: 5 } }],
    }),
  ]);
  const shown = eligible.map(({ candidate: { worker }, score }) => [worker, score]);
  expect(shown).toEqual([
    ["fit", { score: 2, terms: [1, 0] }],
    ["cold", { score: 0, terms: [0, 0] }],
  ]);
  expect(
    rejected.map(({ candidate: { worker }, isMatching, failing }) => [worker, isMatching, failing]),
  ).toEqual([
    [
      "unfit",
      false,
      [
        "runner process",
        'meta("tier").eq(1)',
        'label("zone").ne("a")',
        "routing constraint",
        "package zod",
        "cpu",
      ],
    ],
    ["paused", true, ["readiness for new work"]],
    ["full", true, ["a free slot"]],
    ["busy", true, ["free cpu"]],
  ]);
  expect(JSON.stringify(rejected.map(({ failing }) => failing))).not.toContain("t1");
});

test.each<[string, Needs, boolean]>([
  ["nothing", { requirements: null }, false],
  [
    "a label",
    { requirements: { affinity: [{ of: "label", key: "a", op: "eq", value: "b" }] } },
    false,
  ],
  ["metadata", { requirements: { affinity: [meta("a", 1)] } }, true],
  ["the lack of metadata", { requirements: { affinity: [meta("a", 1, "ne")] } }, true],
  [
    "a service",
    {
      requirements: {
        affinity: [{ of: "label", key: "engine.service.x", op: "eq", value: "true" }],
      },
    },
    true,
  ],
  ["hidden metadata", { requirements: null, hidden: { affinity: [meta("a", 1)] } }, true],
  ["a score over metadata", { requirements: POLICY }, true],
  [
    "a score over load where metadata says so",
    {
      requirements: {
        routing: [
          {
            ...{ kind: "least", selector: { kind: "load" }, weight: 1 },
            when: { left: { kind: "meta", key: "a" }, op: "eq", right: 1 },
          },
        ],
      },
    },
    true,
  ],
  [
    "a score over load",
    { requirements: { routing: [{ kind: "least", selector: { kind: "load" }, weight: 1 }] } },
    false,
  ],
  ["a term nobody knows", { requirements: { affinity: [{ of: "unknown" }] } }, false],
])(
  "WMD-2 a claim is guarded by the revision of metadata and grants where it reads %s: %s",
  (_, of, expected) => {
    expect(readsAttributes(of)).toBe(expected);
  },
);
