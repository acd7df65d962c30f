import { expect, test } from "vitest";
import { type Candidate, type Dispatchable, gate } from "./gate.ts";

function candidate(worker: string, changes: Partial<Candidate> = {}): Candidate {
  return {
    worker,
    runners: ["thread"],
    packages: [],
    resources: null,
    load: 0,
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
