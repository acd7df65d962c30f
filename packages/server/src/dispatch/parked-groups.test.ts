import type { Requirements } from "@engine/contract";
import { expect, test } from "vitest";
import { FleetWorker, queued, TestFleet } from "./testing/test-fleet.ts";

const PARKED = 100_000;

function tenant(n: number): Requirements {
  return { affinity: [{ of: "meta", key: "tenant", op: "eq", value: `t${n}` }] };
}

/** Gives out all that can be given out; answers what that was. */
function given(fleet: TestFleet): string[] {
  const ids: string[] = [];
  for (let match = fleet.give(); match; match = fleet.give()) ids.push(match.entry.execution_id);
  return ids;
}

/** How many workers the gate is asked about while something is done and its outcome given out. */
function asked(fleet: TestFleet, act: () => void): [given: string[], asked: number] {
  fleet.asked = 0;
  act();
  return [given(fleet), fleet.asked];
}

test("DSP-12 DSP-5 beside 100,000 that each need something else nothing costs more, and a write that admits one asks about that one", () => {
  const fleet = new TestFleet();
  const workers = ["a", "b", "c"].map((name) => new FleetWorker(name, { labels: { zone: "z" } }));
  for (const worker of workers) fleet.join(worker);
  const [worker = expect.unreachable()] = workers;
  const parking = asked(fleet, () => {
    for (let n = 0; n < PARKED; n++) fleet.add(queued(`p${n}`, { needs: tenant(n) }));
  });
  expect(parking).toEqual([[], 0]);

  expect(asked(fleet, () => fleet.add(queued("fresh", { queued_at: 9 })))).toEqual([["fresh"], 1]);
  expect(asked(fleet, () => fleet.finish(worker, "fresh"))).toEqual([[], 0]);
  expect(asked(fleet, () => fleet.change(worker, {}))).toEqual([[], 0]);
  const another = { needs: tenant(7), queued_at: 9 };
  expect(asked(fleet, () => fleet.add(queued("behind", another)))).toEqual([[], 0]);
  expect(asked(fleet, () => fleet.join(new FleetWorker("d")))).toEqual([[], 0]);
  const write = () => fleet.change(worker, { metadata: { tenant: "t512", other: 1 } });
  expect(asked(fleet, write)).toEqual([["p512"], 1]);
  // Two wait for this one: that they need the same is asked about together.
  const [both, times] = asked(fleet, () => fleet.change(worker, { metadata: { tenant: "t7" } }));
  expect(both).toEqual(["p7", "behind"]);
  expect(times).toBeLessThanOrEqual(2);
});

test("DSP-12 what no worker had when it was filed is filed anew once many have it", () => {
  const fleet = new TestFleet();
  const inRegion = (n: number): Requirements => ({
    affinity: [
      { of: "label", key: "region", op: "eq", value: "eu" },
      ...(tenant(n).affinity ?? []),
    ],
  });
  for (let n = 0; n < 1_000; n++) fleet.add(queued(`p${n}`, { needs: inRegion(n) }));
  given(fleet);
  const labels = { region: "eu" };
  for (const name of ["a", "b", "c"]) {
    expect(asked(fleet, () => fleet.join(new FleetWorker(name, { labels })))).toEqual([[], 0]);
  }
  const metadata = { tenant: "t3" };
  const join = () => fleet.join(new FleetWorker("d", { labels, metadata }));
  expect(asked(fleet, join)).toEqual([["p3"], 1]);
});

test("DSP-4 a freed slot goes to the first that its worker can have, whatever that is filed under", () => {
  const fleet = new TestFleet();
  const worker = new FleetWorker("a", { slots: 1, labels: { zone: "z" } });
  const needs: (Requirements | null)[] = [
    { worker: "a" },
    { affinity: [{ of: "label", key: "zone", op: "eq", value: "z" }] },
    { affinity: [{ of: "label", key: "zone", op: "ne", value: "y" }] },
    null,
    { runner: "thread" },
    { worker: "b" },
    { affinity: [{ of: "label", key: "zone", op: "ne", value: "z" }] },
  ];
  const order = [3, 1, 6, 0, 5, 2, 4];
  fleet.join(worker);
  fleet.add(queued("running"));
  expect(given(fleet)).toEqual(["running"]);
  for (const [at, n] of order.entries()) {
    fleet.add(queued(`p${n}`, { needs: needs[n] ?? null, queued_at: at }));
  }
  const ran: string[] = [];
  for (let last = "running"; last !== ""; last = ran.at(-1) ?? "") {
    fleet.finish(worker, last);
    const next = given(fleet);
    if (next.length === 0) break;
    ran.push(...next);
  }
  expect(ran).toEqual(["p3", "p1", "p0", "p2", "p4"]);
});

test("DSP-12 ten thousand free workers are not looked through for one that any of them can have", () => {
  const fleet = new TestFleet();
  for (let n = 0; n < 10_000; n++) fleet.join(new FleetWorker(`w${String(n).padStart(5, "0")}`));
  expect(asked(fleet, () => fleet.add(queued("a")))).toEqual([["a"], 1]);
  expect(asked(fleet, () => fleet.add(queued("b", { last_worker: "w07777" })))).toEqual([["b"], 1]);
  const [w0, w1] = ["w00000", "w00001"].map((name) =>
    fleet.workers.find(({ worker }) => worker === name),
  );
  expect([w0?.load, w1?.load]).toEqual([1, 0]);
});

test("FLW-6 between lanes the one has its turn that is said to have it", () => {
  const lastGiven = new Map<string, number>();
  let turns = 0;
  const fleet = new TestFleet({
    laneOf: ({ workflow }) => workflow,
    turn: (a, b) => (lastGiven.get(a.lane) ?? 0) - (lastGiven.get(b.lane) ?? 0),
  });
  for (let n = 0; n < 4; n++) fleet.add(queued(`a${n}`, { workflow: "a" }));
  for (let n = 0; n < 2; n++) fleet.add(queued(`b${n}`, { workflow: "b" }));
  fleet.join(new FleetWorker("w"));
  const ids: string[] = [];
  for (let match = fleet.give(); match; match = fleet.give()) {
    lastGiven.set(match.entry.workflow, ++turns);
    ids.push(match.entry.execution_id);
  }
  expect(ids).toEqual(["a0", "b0", "a1", "b1", "a2", "a3"]);
});
