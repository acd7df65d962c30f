import { expect, test } from "vitest";
import {
  grantedServices,
  labelsWithGrants,
  Metadata,
  type OperatorAttributes,
  withGrants,
  withMetadata,
  withoutGrant,
  withoutMetadata,
} from "./worker-attributes.ts";

const said: OperatorAttributes = { metadata: { tier: "gold", n: 1 }, granted: ["b"] };
const many = (count: number, from = 0) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${from + i}`, i]));

test("WMD-1 metadata is text or a finite number under the keys of labels, 64 at most", () => {
  const good: readonly object[] = [
    {},
    many(64),
    { "a.b-c_D": "", n: -1.5, ["k".repeat(64)]: "x".repeat(256) },
    { "engine.x": "no label is made of it", constructor: "text" },
  ];
  for (const given of good) expect(Metadata.safeParse(given)).toMatchObject({ data: given });
  const bad: readonly unknown[] = [
    many(65),
    { ".a": 1 },
    { a_: 1 },
    { ä: 1 },
    { ["k".repeat(65)]: 1 },
    { a: "x".repeat(257) },
    { a: "\u007f" },
    { a: Number.NaN },
    { a: Number.POSITIVE_INFINITY },
    { a: true },
    { a: null },
    JSON.parse('{"__proto__":1}'),
    [],
    "text",
  ];
  for (const given of bad) {
    expect(Metadata.safeParse(given).success, JSON.stringify(given).slice(0, 40)).toBe(false);
  }
});

test("WMD-1 a merge keeps what it does not name, and is refused as a whole where that would be too much", () => {
  const merged = withMetadata({ metadata: { n: "2", z: 3 }, replace: false })(said);
  expect(merged).toEqual({ metadata: { tier: "gold", n: "2", z: 3 }, granted: ["b"] });
  const replaced = withMetadata({ metadata: many(64), replace: true })(said);
  expect(replaced).toEqual({ metadata: many(64), granted: ["b"] });
  const most = withMetadata({ metadata: many(62), replace: false })(said);
  expect(Object.keys(most.metadata)).toHaveLength(64);
  expect(() => withMetadata({ metadata: many(63), replace: false })(said)).toThrow(
    "a worker has at most 64 keys of metadata; with these it would have 65",
  );
});

test("WMD-1 WMD-3 what is taken away that is not there changes nothing, nor does a grant of what was granted", () => {
  expect(withoutMetadata("n")(said)).toEqual({ metadata: { tier: "gold" }, granted: ["b"] });
  expect(withoutMetadata()(said)).toEqual({ metadata: {}, granted: ["b"] });
  expect(withoutMetadata("toString")(said)).toEqual(said);
  expect(withGrants(["c", "a", "b"])(said)).toEqual({ ...said, granted: ["a", "b", "c"] });
  expect(withGrants(["b"])(said)).toEqual(said);
  expect(withoutGrant("b")(said)).toEqual({ ...said, granted: [] });
  expect(withoutGrant("c")(said)).toEqual(said);
});

test("WMD-3 a worker has the label of a service while it offers it and was granted it", () => {
  const services = grantedServices(["inference", "cache"], ["search", "inference"]);
  expect(services).toEqual(["inference"]);
  const labels = { zone: "eu" };
  expect(labelsWithGrants(labels, services)).toEqual({
    zone: "eu",
    "engine.service.inference": "true",
  });
  expect(labelsWithGrants(labels, [])).toEqual(labels);
});
