import { expect, test } from "vitest";
import {
  claimedOrigin,
  type HookStart,
  hopAfter,
  lineageOf,
  type NamedDelivery,
} from "./lineage.ts";

const id = "0192f0c1-0000-7000-8000-000000000001";
const event_key = "0192f0c0-0000-7000-8000-000000000002:17";
const delivery: NamedDelivery = {
  id,
  hook: "page",
  event_key,
  status: "delivered",
  hop: 1,
  ran_as: "p-ops",
};
const envelope = { hook: "page", selector: "execution:*", delivery_id: id, event_key, hop: 1 };
const behind = { name: "page", delivery_id: id, hop: 1 };

test("HOOK-33 what the drain starts has the hop of its delivery", () => {
  expect(lineageOf({ by: "drain", delivery })).toEqual(behind);
});

test("HOOK-33 what a test of a hook starts is the first of its chain", () => {
  const delivery_id = `hook-test-${"0".repeat(32)}`;
  const lineage = lineageOf({ by: "test", hook: "page", delivery_id });
  expect(lineage).toEqual({ name: "page", delivery_id, hop: 0 });
});

test("HOOK-33 what an execution starts, restarts or forks has the lineage of that, also when it is null", () => {
  expect(lineageOf({ by: "execution", lineage: behind })).toBe(behind);
  expect(lineageOf({ by: "execution", lineage: null })).toBeNull();
});

test("HOOK-33 without authorization an input in the shape of an envelope is taken at its word", () => {
  expect(lineageOf({ by: "anyone", input: envelope })).toEqual(behind);
  expect(lineageOf({ by: "anyone", input: { ...envelope, hop: -7 } })?.hop).toBe(0);
  const bare = { delivery_id: id, event_key, hop: 2 };
  expect(lineageOf({ by: "anyone", input: bare })).toEqual({ name: null, delivery_id: id, hop: 2 });
});

test("HOOK-33 what an input says of its hook is kept only if it could be true", () => {
  const input = { hook: "No hook", delivery_id: "\u0000".repeat(9), event_key: "", hop: 1e300 };
  expect(lineageOf({ by: "anyone", input })).toEqual({ name: null, delivery_id: null, hop: 1_000 });
});

test.each([
  ["only a hop", { hop: 2 }],
  ["no event key", { delivery_id: id, hop: 2 }],
  ["no delivery id", { event_key, hop: 2 }],
  ["no hop", { delivery_id: id, event_key }],
  ["a hop that is a text", { ...envelope, hop: "2" }],
  ["a hop with a fraction", { ...envelope, hop: 1.5 }],
  ["a hop that is no number", { ...envelope, hop: Number.NaN }],
  ["an id that is a number", { ...envelope, delivery_id: 1 }],
  ["a list", [envelope]],
  ["a text", JSON.stringify(envelope)],
  ["nothing", null],
  ["nothing at all", undefined],
])("HOOK-34 an input with %s is ordinary", (_, input) => {
  expect(claimedOrigin(input)).toBeUndefined();
  expect(lineageOf({ by: "anyone", input })).toBeNull();
  expect(lineageOf({ by: "principal", principal: "p-ops", input, delivery })).toBeNull();
});

const handedOn = { by: "principal", principal: "p-ops", input: envelope, delivery } as const;

test("HOOK-33 with authorization a target that hands its envelope on has the hop of the row, not of the input", () => {
  expect(lineageOf(handedOn)).toEqual(behind);
  expect(lineageOf({ ...handedOn, input: { ...envelope, hop: 0 } })).toEqual(behind);
});

test.each<[string, Partial<Extract<HookStart, { by: "principal" }>>]>([
  ["a delivery that is not there", { delivery: undefined }],
  ["a delivery of another account", { principal: "p-else" }],
  ["a delivery that ran as nobody", { delivery: { ...delivery, ran_as: null } }],
  ["a delivery that is dead", { delivery: { ...delivery, status: "dead" } }],
  ["a delivery of another event", { input: { ...envelope, event_key: "e:1" } }],
  ["another delivery than was looked up", { input: { ...envelope, delivery_id: "else" } }],
])("HOOK-34 with authorization an input that names %s is ordinary", (_, over) => {
  expect(lineageOf({ ...handedOn, ...over })).toBeNull();
});

test("HOOK-34 hops count from 0 and grow by one with each hook", () => {
  expect(hopAfter(null)).toBe(0);
  expect(hopAfter({ hop: 0 })).toBe(1);
  expect(hopAfter(behind)).toBe(2);
});
