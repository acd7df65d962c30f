/** Options of a version as a user would type them (AFF-7). */
import {
  AffinityTerm,
  type FairnessDeclaration,
  type LimitDeclaration,
  RoutingPolicy,
} from "./expression.ts";
import { printRef, printTerm } from "./print.ts";

/** Undefined for a version that has none. */
export function printAffinity(affinity: unknown): string | undefined {
  if (affinity === null || affinity === undefined) return undefined;
  if (!Array.isArray(affinity)) return printLabels(affinity);
  const terms = affinity.map((term) => {
    const known = AffinityTerm.safeParse(term).data;
    return known ? printTerm(known) : unknown(term);
  });
  return call("require", terms);
}

/** Undefined for a version that has none. */
export function printRouting(routing: unknown): string | undefined {
  if (routing === null || routing === undefined) return undefined;
  const policy = RoutingPolicy.safeParse(routing).data;
  return policy ? call("score", policy.terms.map(printTerm)) : unknown(routing);
}

export function printLimit(limit: LimitDeclaration): string {
  const key = limit.key && `key: ${printRef(limit.key)}`;
  switch (limit.kind) {
    case "concurrency": {
      const kept = limit.hold_while_waiting && "holdWhileWaiting: true";
      const overflow = limit.overflow && `overflow: "${limit.overflow}"`;
      return called("concurrency", [String(limit.count)], [key, kept, overflow]);
    }
    case "rate":
      return called("rate", [String(limit.count), `"${periodText(limit.period_ms)}"`], [key]);
    case "limit":
      return called("limit", [JSON.stringify(limit.name)], [key]);
  }
}

export function printFairness({ key, weight }: FairnessDeclaration): string {
  return weight === 1
    ? `{ key: ${printRef(key)} }`
    : `{ key: ${printRef(key)}, weight: ${weight} }`;
}

function printLabels(labels: object): string {
  const members = Object.entries(labels).map(([key, value]) => {
    const name = /^[A-Za-z]\w*$/.test(key) ? key : JSON.stringify(key);
    return `${name}: ${JSON.stringify(value)}`;
  });
  return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`;
}

function called(
  builder: string,
  values: readonly string[],
  options: readonly (string | undefined)[],
): string {
  const given = options.filter((option) => option !== undefined);
  const last = given.length === 0 ? [] : [`{ ${given.join(", ")} }`];
  return `${builder}(${[...values, ...last].join(", ")})`;
}

/** Several terms have a line each. */
function call(builder: string, terms: readonly string[]): string {
  if (terms.length < 2) return `${builder}(${terms.join("")})`;
  return [`${builder}(`, ...terms.map((term) => `  ${term},`), ")"].join("\n");
}

const UNITS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1_000],
] as const;

function periodText(ms: number): string {
  const [unit, size] = UNITS.find((each) => ms % each[1] === 0) ?? ["ms", 1];
  return `${ms / size}${unit}`;
}

/** Of a version that a later release registered. */
function unknown(value: unknown): string {
  return `${JSON.stringify(value)} /* not known to this release */`;
}
