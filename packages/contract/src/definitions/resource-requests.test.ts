import { expect, test } from "vitest";
import {
  largestRequests,
  parsePackageRequest,
  resourceRequests,
  taskRequests,
} from "./resource-requests.ts";

test("RES-1 requests become cores, bytes and devices; packages stay as they are written", () => {
  const packages = ["sharp@^0.33", "@scope/thing"];
  expect(resourceRequests({ cpu: 0.5, memory: "1.5KiB", disk: "2MB", gpu: 1, packages })).toEqual({
    cpu: 0.5,
    memory: 1536,
    disk: 2_000_000,
    gpu: 1,
    packages,
  });
  expect(taskRequests({ memory: 10 })).toEqual({ memory: 10 });
});

test("RES-1 asking for nothing is the same as not asking", () => {
  for (const option of [undefined, {}, { packages: [] }, { cpu: undefined }]) {
    expect(resourceRequests(option)).toBeNull();
    expect(taskRequests(option)).toBeNull();
  }
});

test("RES-4 the largest of several requests is taken resource by resource", () => {
  expect(largestRequests([{ cpu: 4, memory: 1 }, null, { cpu: 2, memory: 2 }, { gpu: 1 }])).toEqual(
    { cpu: 4, memory: 2, gpu: 1 },
  );
  expect(largestRequests([null, {}])).toBeNull();
});

test.each([
  ["sharp", "sharp", undefined],
  ["@scope/thing", "@scope/thing", undefined],
  ["@scope/thing@1.2.3", "@scope/thing", "1.2.3"],
  ["JSONStream@~1", "JSONStream", "~1"],
  ["a@>= 1.2 < 2", "a", ">= 1.2 < 2"],
  ["a@1.2.3 - 2.3", "a", "1.2.3 - 2.3"],
  ["a@^1.0.0-beta.2 || 2.x || *", "a", "^1.0.0-beta.2 || 2.x || *"],
])("RES-1 %s names a package", (text, name, range) => {
  expect(parsePackageRequest(text)).toEqual({ name, range });
});

test.each([
  "",
  "@",
  "a@",
  "a b",
  "a@latest",
  "a@1.2.3.4",
  "a@>",
  "a@1 &&2",
  "../a",
  "a/b",
  "@a/b/c",
  "@scope",
  "a@npm:b@1",
  "a@https://example.com/a.tgz",
  "a".repeat(215),
])("RES-1 %j names no package", (text) => {
  expect(parsePackageRequest(text)).toBeUndefined();
});
