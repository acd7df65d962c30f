import { expect, test } from "vitest";
import { type Candidate, type Dispatchable, gate } from "./gate.ts";

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
