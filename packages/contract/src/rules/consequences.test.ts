import { expect, test } from "vitest";
import type { ExecutionRow } from "../executions/execution-row.ts";
import type { NewEvent } from "../log/event.ts";
import { event, MemoryRows } from "../testing/memory-rows.ts";
import type { Change, Effect } from "./change.ts";
import { consequencesOf, type EffectSource, NO_EFFECTS, touch, untouched } from "./consequences.ts";

const rows = new MemoryRows();
for (const id of ["e1", "e2", "e3"]) rows.create({ execution_id: id });
const parent = { execution_id: "e1", depth: 0, call_id: "call~1", detached: false };
rows.create({ execution_id: "e5", parent });

const source: EffectSource = {
  find: (id) => rows.rows.get(id),
  children: (id) => [...rows.rows.values()].filter(({ parent_id }) => parent_id === id),
};

function noting(id: string, note: string, ...effects: Effect[]): Effect {
  return { kind: "change", execution_id: id, decide: () => ({ ...writing(note), effects }) };
}

function writing(note: string): Change {
  return { events: [event("TASK_STARTED", note)], patch: {} };
}

function follow(effects: readonly Effect[], first = "e1") {
  const begun = touch(untouched(rows.row(first)), writing("begun"));
  return consequencesOf(begun, effects, source).map(({ row, events }) => [
    row.execution_id,
    row.head,
    notes(events),
  ]);
}

function notes(events: readonly NewEvent[]): string[] {
  return events.map(({ type, source_id }) => (type === "TASK_STARTED" ? source_id : type));
}

test("without effects a change touches its own execution alone", () => {
  expect(follow(NO_EFFECTS)).toEqual([["e1", 2, ["begun"]]]);
});

test("what several effects cause comes after all of them, and each execution is touched once", () => {
  const effects = [noting("e3", "a", noting("e2", "aa"), noting("e1", "ab")), noting("e2", "b")];
  expect(follow(effects)).toEqual([
    ["e1", 3, ["begun", "ab"]],
    ["e3", 2, ["a"]],
    ["e2", 3, ["b", "aa"]],
  ]);
});

test("children are those that are stored and those that the change creates, in the order of ids", () => {
  const seen: string[] = [];
  const look: Effect = {
    kind: "children",
    parent_id: "e1",
    decide: ({ execution_id, head }) => void seen.push(`${execution_id} ${head}`),
  };
  const create: Effect = { kind: "create", fresh: rows.fresh({ execution_id: "e4", parent }) };
  follow([noting("e5", "a"), create, noting("e4", "b"), look]);
  expect(seen).toEqual(["e4 2", "e5 2"]);
});

test("of an effect on an unknown execution only what it causes counts", () => {
  const seen: (ExecutionRow | undefined)[] = [];
  const missing: Effect = {
    kind: "change",
    execution_id: "e9",
    decide: (row) => {
      seen.push(row);
      return { ...writing("lost"), effects: [noting("e1", "told")] };
    },
  };
  expect(follow([missing])).toEqual([["e1", 3, ["begun", "told"]]]);
  expect(seen).toEqual([undefined]);
});

test("an execution cannot be created twice, nor under a unique key", () => {
  const create = (over: Partial<Parameters<typeof rows.fresh>[0]> = {}): Effect => ({
    kind: "create",
    fresh: rows.fresh({ execution_id: "e6", ...over }),
  });
  expect(() => follow([create(), create()])).toThrow("an execution e6 exists already");
  expect(() => follow([create({ unique: { key: "k", request_hash: "h" } })])).toThrow("unique key");
});

test("effects that never end are a defect, and the head of a change is where its events end", () => {
  const forever: Effect = { kind: "change", execution_id: "e2", decide: () => again };
  const again: Change = { events: [], patch: {}, effects: [forever] };
  expect(() => follow([forever])).toThrow("100000 effects");
  const wrong = { ...writing("a"), patch: { head: 9 } };
  expect(() => touch(untouched(rows.row()), wrong)).toThrow("a decision set head 9");
});
