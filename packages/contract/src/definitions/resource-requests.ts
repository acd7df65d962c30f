import * as z from "zod";
import { parseResourceAmount } from "./resource-amount.ts";

/** What a task asks of its worker's budget: cores, bytes, devices (RES-4). */
export const TaskRequests = z.object({
  cpu: z.number().optional(),
  memory: z.number().optional(),
  gpu: z.number().optional(),
});
export type TaskRequests = Readonly<z.infer<typeof TaskRequests>>;

/** What a workflow asks of a worker: cores, bytes, devices, packages (RES-1). */
export const ResourceRequests = TaskRequests.extend({
  disk: z.number().optional(),
  /** `name` or `name@<semver range>`. */
  packages: z.array(z.string()).readonly().optional(),
});
export type ResourceRequests = Readonly<z.infer<typeof ResourceRequests>>;

/** A package that a workflow asks for, taken apart. */
export interface PackageRequest {
  readonly name: string;
  /** Undefined: any version will do. */
  readonly range: string | undefined;
}

/** As npm names packages, names from its early days included. */
const PACKAGE_NAME = /^(@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/i;
/** Longest name that npm takes. */
const MOST_CHARACTERS = 214;
/** `1`, `v1.2`, `1.x`, `*`, `1.2.3-beta.1+build`, behind an operator or none. */
const COMPARATOR =
  /^(<=|>=|<|>|=|~>?|\^)?[v=]*(\d+|[xX*])(\.(\d+|[xX*])){0,2}(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/;

/**
 * `name` or `name@<range>` taken apart; undefined for anything else. A range is recognised by its
 * shape: the server, which matches it, knows the rest of its rules.
 */
export function parsePackageRequest(text: string): PackageRequest | undefined {
  // The `@` of a scope begins the name.
  const at = text.lastIndexOf("@");
  const [name, range] = at > 0 ? [text.slice(0, at), text.slice(at + 1)] : [text, undefined];
  if (name.length > MOST_CHARACTERS || !PACKAGE_NAME.test(name)) return undefined;
  return range === undefined || isRange(range) ? { name, range } : undefined;
}

function isRange(range: string): boolean {
  return range.split("||").every((part) => {
    const comparators = part
      .trim()
      .replace(/([<>=~^])\s+/g, "$1")
      .replace(/ - /g, " ")
      .split(/\s+/);
    return comparators.every((comparator) => COMPARATOR.test(comparator));
  });
}

/** What an option `requests` comes to; null when it asks for nothing. It has been checked. */
export function resourceRequests(option: unknown): ResourceRequests | null {
  const { cpu, memory, disk, gpu, packages } = (option ?? {}) as Record<string, unknown>;
  return whatIsSet({
    cpu: numberOf(cpu),
    memory: parseResourceAmount(memory),
    disk: parseResourceAmount(disk),
    gpu: numberOf(gpu),
    packages: Array.isArray(packages) && packages.length > 0 ? packages.map(String) : undefined,
  });
}

/** The same of a task's option. */
export function taskRequests(option: unknown): TaskRequests | null {
  const { cpu, memory, gpu } = resourceRequests(option) ?? {};
  return whatIsSet({ cpu, memory, gpu });
}

/** Of each resource the most that any of them asks for. */
export function largestRequests(all: Iterable<TaskRequests | null>): TaskRequests | null {
  const most: { cpu?: number; memory?: number; gpu?: number } = {};
  for (const requests of all) {
    if (!requests) continue;
    for (const resource of ["cpu", "memory", "gpu"] as const) {
      const wanted = requests[resource];
      if (wanted !== undefined) most[resource] = Math.max(wanted, most[resource] ?? 0);
    }
  }
  return whatIsSet(most);
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

function whatIsSet<T extends object>(requests: T): T | null {
  const set = Object.entries(requests).filter(([, value]) => value !== undefined);
  return set.length > 0 ? (Object.fromEntries(set) as T) : null;
}
