import { encode, type Json } from "@engine/contract";
import { expect, test } from "vitest";
import type { Evidence, ValueSeen } from "../evidence.ts";
import { uncounted } from "./excuses.ts";
import { recordedValues } from "./recorded-values.ts";
import { broken, type Draft } from "./testing/sample-evidence.ts";
import { BEGAN } from "./testing/told.ts";

const NOW = new Date(0);
const TAKEN = encode([NOW, 0.5, 3, "id-1"], "value");
const OTHER = encode([NOW, 0.25, 4, "id-2"], "value");

type Seen = Pick<ValueSeen, "generation" | "value"> & Partial<ValueSeen>;

function judged(sights: readonly Seen[], edit: (evidence: Draft<Evidence>) => void): string[] {
  const evidence = broken(edit);
  const [execution] = evidence.executions;
  if (!execution) throw new Error("the sample has executions");
  const of = { execution_id: "e1", path: "r.9", kind: "recorded", process: "w1-1" } as const;
  const { at } = evidence.values[0] as ValueSeen;
  return recordedValues(
    sights.map((one) => ({ ...of, at, ...one })),
    execution,
    { evidence, excuse: uncounted },
  );
}

/** The log holds what was taken first, in four calls. */
function held(evidence: Draft<Evidence>): void {
  const { log } = evidence.executions[0];
  const [first] = log;
  if (!first) return;
  for (const [i, value] of [NOW, 0.5, 3, "id-1"].entries()) {
    const kind = (["now", "random", "random", "uuid"] as const)[i] ?? null;
    const event = { ...first.event, name: `${kind}`, kind, source_id: `${kind}~${i}` };
    const outcome = encode(value, "value") as Json;
    log.push({ ...first, event: { ...event, type: "TASK_STARTED", seq: 100 + 2 * i } });
    log.push({
      ...first,
      event: { ...event, type: "TASK_COMPLETED", value: outcome, seq: 101 + 2 * i },
    });
  }
}

test("I9 a value that the log holds is seen by every copy behind it", () => {
  expect(
    judged(
      [1, 2].map((generation) => ({ generation, value: TAKEN })),
      held,
    ),
  ).toEqual([]);
  const another = [
    { generation: 1, value: TAKEN },
    { generation: 2, value: OTHER },
  ];
  expect(judged(another, held)).toEqual([expect.stringContaining("under generation 2")]);
});

test("I9 what code saw ahead of its log may be lost, and so may what a given-up copy sees later", () => {
  const lost = [
    { generation: 1, value: OTHER },
    { generation: 2, value: TAKEN },
    { generation: 1, value: OTHER },
  ];
  expect(judged(lost, held)).toEqual([]);
});

test("I9 who completes an execution has recorded what its code saw", () => {
  const unrecorded = [{ generation: 3, value: TAKEN }];
  expect(judged(unrecorded, () => {})).toEqual([
    expect.stringContaining("the log does not hold it"),
  ]);
});

test("I9 the clock of the workflow is bound by what its copy wrote behind it, and not before that", () => {
  const sights = (first: number, second: number) => [
    { generation: 1, value: [0.5, "id", BEGAN + first] },
    { generation: 2, value: [0.5, "id", BEGAN + second] },
  ];
  // The first copy wrote last at 1,010, the second at 2,020.
  const unchanged = () => {};
  expect(judged(sights(1_009, 2_019), unchanged)).toHaveLength(1);
  expect(judged(sights(1_010, 2_019), unchanged)).toEqual([]);
  expect(judged(sights(1_009, 2_020), unchanged)).toEqual([]);
  const unwritten = ({ writes }: Draft<Evidence>) => {
    for (const write of writes) write.accepted = false;
  };
  expect(judged(sights(1_009, 2_019), unwritten)).toEqual([]);
});

test("I9 what became of a task does not bind the clock that code read behind it, and then lost", () => {
  const sights = [
    { generation: 1, value: [0.5, "id", BEGAN + 1_009] },
    { generation: 2, value: [0.5, "id", BEGAN + 2_019] },
  ];
  const outcomesAlone = ({ executions }: Draft<Evidence>) => {
    for (const { event } of executions[0].log) {
      if (event.seq > 2) Object.assign(event, { type: "TASK_COMPLETED", kind: null });
    }
  };
  expect(judged(sights, () => {})).toHaveLength(1);
  expect(judged(sights, outcomesAlone)).toEqual([]);
});
