/** What makes a worker fail a hard check. */
export type Constraint =
  | "requests"
  | "required worker"
  | "runner"
  | "map"
  | "label eq"
  | "label ne"
  | "labelFor"
  | "meta eq"
  | "meta ne"
  | "metaFor"
  | "service"
  | "optional"
  | "when"
  | "routing input";

/** Every row of AFF-3, and a map: each says of a worker what `original` has and `unfit` has not. */
const AFFINITY: Readonly<Partial<Record<Constraint, string>>> = {
  map: '{ zone: "a" }',
  "label eq": 'require(label("zone").eq(input("zone")))',
  "label ne": 'require(label("zone").ne("b"))',
  labelFor: 'require(labelFor("dataset.", input("dataset")).eq("true"))',
  "meta eq": 'require(meta("tier").eq(2))',
  "meta ne": 'require(meta("maintenance").ne("true"))',
  metaFor: 'require(metaFor("approved.", input("model")).eq(true))',
  service: 'require(service(input("needs")))',
  optional:
    'require(optional(label("zone").eq(input("zone"))), optional(meta("no").eq(input("no"))))',
  when: 'require(when(input("model").eq("m1"), label("zone").ne("b")))',
  "routing input": 'require(label("zone").eq(routingInput("zone")))',
};

/** What is read of the input and of the routing input of `picky`. */
export const PICKY_INPUT = { zone: "a", dataset: "d1", model: "m1", needs: "gpu" } as const;
export const PICKY_ROUTING_INPUT = { zone: "a" } as const;

interface Attributes {
  readonly labels: Record<string, string>;
  readonly services: string[];
  readonly metadata: Record<string, string | number>;
}

/** Labels, metadata and services of a worker that passes every check, and of one that passes none. */
export const FIT_ATTRIBUTES: Attributes = {
  labels: { zone: "a", "dataset.d1": "true" },
  services: ["gpu"],
  metadata: { tier: 2, "approved.m1": "true" },
};
export const UNFIT_ATTRIBUTES: Attributes = {
  labels: { zone: "b" },
  services: [],
  metadata: { tier: 1, maintenance: "true" },
};

/** Those that only what operators write can meet. */
export function readsMetadata(constraint: Constraint): boolean {
  return constraint === "meta eq" || constraint === "meta ne" || constraint === "metaFor";
}

/** `picky` has the constraint, `filler` fills `original`, `errand` runs on `unfit` only. */
export function sourceOf(constraint: Constraint, inputAt = ""): string {
  const affinity = AFFINITY[constraint]?.replaceAll('input("', `input("${inputAt}`);
  const options = {
    requests: ['requests: { memory: "8GiB" }', 'requests: { memory: "12GiB" }'],
    runner: ['runner: "process"', ""],
  } as const satisfies Partial<Record<Constraint, readonly [picky: string, filler: string]>>;
  const isOther = constraint === "requests" || constraint === "runner";
  const [picky, filler] = isOther
    ? options[constraint]
    : [affinity === undefined ? "" : `affinity: ${affinity}`, ""];
  return `import { workflow } from "@engine/sdk";
import { input, label, labelFor, meta, metaFor, optional, require, routingInput, service, when } from "@engine/sdk/routing";
export const picky = workflow({ name: "picky", ${picky} }, async (input) => input);
export const filler = workflow({ name: "filler", ${filler} }, async (input) => input);
export const errand = workflow({ name: "errand", runner: "inline" }, async (input) => input);
`;
}
