import type { Placement, Preference, Requirements } from "@engine/contract";
import { expect, test } from "vitest";
import { openPlain } from "../dispatch/group.ts";
import { UNREADABLE } from "./fits.ts";
import { readsAttributes } from "./reads-attributes.ts";

const meta = { kind: "meta", key: "tier" } as const;
const label = { kind: "label", key: "engine.service.inference" } as const;
const load = { kind: "load" } as const;

function affinity(of: "label" | "meta", key: string): Placement {
  return { affinity: [{ of: "label", key: "zone", op: "eq", value: "a" }, need(of, key)] };
}

function need(of: "label" | "meta", key: string) {
  return { of, key, op: "ne", value: "x" } as const;
}

function routing(...terms: readonly Preference[]): Placement {
  return { routing: [{ kind: "sticky", weight: 1 }, ...terms] };
}

test.each<readonly [string, Requirements | null, boolean]>([
  ["nothing", null, false],
  ["a runner", { runner: "thread" }, false],
  ["labels of the worker's own", affinity("label", "tier"), false],
  ["a label that only begins like that of a service", affinity("label", "engine.services"), false],
  ["metadata", affinity("meta", "tier"), true],
  ["a granted service", affinity("label", "engine.service.inference"), true],
  ["a term of a later release", { affinity: [{ of: "unknown" }] }, false],
  ["a score over load", routing({ kind: "least", selector: load, weight: 1 }), false],
  ["a score over metadata", routing({ kind: "most", selector: meta, weight: 1 }), true],
  [
    "a preference for metadata",
    routing({ kind: "prefer", left: meta, op: "gt", right: 1, weight: 1 }),
    true,
  ],
  [
    "a preference for a granted service",
    routing({ kind: "prefer", left: label, op: "eq", right: "true", weight: 1 }),
    true,
  ],
  [
    "a term that counts by metadata",
    routing({ kind: "sticky", weight: 1, when: { left: meta, op: "eq", right: "x" } }),
    true,
  ],
  ["routing input and labels", { hidden: { plain: affinity("label", "zone") } }, false],
  ["routing input and metadata", { hidden: { plain: affinity("meta", "zone") } }, true],
])("WMD-2 whether a claim is guarded by metadata and grants: %s", (_, requirements, reads) => {
  const hidden = requirements?.hidden && (openPlain(requirements.hidden) ?? UNREADABLE);
  expect(readsAttributes({ requirements, hidden })).toBe(reads);
});
