import { ExtractedWorkflow } from "@engine/contract";
import { expect, test } from "vitest";
import { contentHash, sha256 } from "./content-hash.ts";

const record: ExtractedWorkflow = ExtractedWorkflow.parse({
  namespace: "default",
  name: "a",
  description: null,
  tasks: [{ name: "t", description: null }],
  metadata: { a: 1, b: { c: 2, d: 3 } },
});

test("EXE-67 equal bundle and record have one hash, whatever the order of keys", () => {
  const { name, metadata: _, ...rest } = record;
  const reordered = { metadata: { b: { d: 3, c: 2 }, a: 1 }, ...rest, name };
  expect(contentHash("code", reordered)).toBe(contentHash("code", record));
  expect(contentHash("code", record)).toMatch(/^[0-9a-f]{64}$/);
});

test("EXE-67 options that an earlier release did not know, and that a source leaves out, make no other hash", () => {
  const { affinity, routing, limits, priority, fairness, ...earlier } = record;
  expect([affinity, routing, limits, priority, fairness]).toEqual([null, null, [], null, null]);
  expect(contentHash("code", earlier as ExtractedWorkflow)).toBe(contentHash("code", record));
});

test.each<[string, string, Partial<ExtractedWorkflow>]>([
  ["the bundle", "other", {}],
  ["a description", "code", { description: "x" }],
  ["the order of tasks or their number", "code", { tasks: [] }],
  ["metadata", "code", { metadata: {} }],
  ["the timeout", "code", { timeout_seconds: 1 }],
  ["a secret", "code", { secrets: ["A"] }],
  ["the affinity", "code", { affinity: { zone: "eu" } }],
  ["a priority", "code", { priority: 0 }],
  ["what it calls", "code", { nested_workflows: ["default/b"] }],
])("EXE-67 another hash when %s differs", (_what, bundle, change) => {
  expect(contentHash(bundle, { ...record, ...change })).not.toBe(contentHash("code", record));
});

test("EXE-68 source_hash is the plain SHA-256 of the file", () => {
  expect(sha256("hello\n")).toBe(
    "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03",
  );
});
