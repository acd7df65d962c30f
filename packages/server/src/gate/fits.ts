/**
 * Whether a worker can have an execution at all: by its name and runners, and by the resources it must
 * have (RES-2). Pure, and the same for the gate, its answers to "why", and the search for others.
 */
import {
  holds,
  parsePackageRequest,
  printNeed,
  type Requirements,
  type ResourceRequests,
  type Runner,
  type WorkerAttributes,
  type WorkerPackage,
  type WorkerResources,
} from "@engine/contract";
import { satisfies } from "semver";

/** A worker, as far as requirements look at it. */
export interface Capabilities extends WorkerAttributes {
  readonly worker: string;
  readonly runners: readonly Runner[];
  /** Null: the worker has not told its resources, and has room for every request. */
  readonly resources: WorkerResources | null;
  readonly packages: readonly WorkerPackage[];
}

/** The first thing that a worker lacks, in words; undefined when it could have the execution. */
export function lacks(
  requirements: Requirements | null,
  capabilities: Capabilities,
): string | undefined {
  if (!requirements) return undefined;
  const { worker, runners, resources, packages } = capabilities;
  const { worker: required, runner, affinity, requests = {}, totals = {} } = requirements;
  if (required !== undefined && required !== worker) return `worker ${required}`;
  if (runner !== undefined && !runners.includes(runner)) return `runner ${runner}`;
  const failing = affinity?.find((need) => !holds(need, capabilities));
  if (failing) return printNeed(failing);
  const missing = requests.packages?.find((wanted) => !hasPackage(packages, wanted));
  if (missing !== undefined) return `package ${missing}`;
  if (!resources) return undefined;
  const all = allOf(resources);
  return lacksAmount(requests, all) ?? lacksAmount(totals, all);
}

/** Everything that requirements ask of a worker, in words. */
export function needs(requirements: Requirements | null): string[] {
  const { runner, affinity = [], requests = {}, totals = {} } = requirements ?? {};
  const packages = requests.packages ?? [];
  return [
    ...(runner === undefined ? [] : [`runner ${runner}`]),
    ...affinity.map(printNeed),
    ...amountsOf(requests).map(([resource, amount]) => `${resource} ${amount}`),
    ...packages.map((wanted) => `package ${wanted}`),
    ...amountsOf(totals).map(([resource, amount]) => `${resource} ${amount} for a task of it`),
  ];
}

/**
 * The first resource of which too little is free now. What is free of a resource is the lower of two
 * amounts: what the worker reported, and what its executions leave of the total.
 */
export function lacksRoom(
  requests: ResourceRequests | undefined,
  resources: WorkerResources | null,
  reservations: Iterable<Requirements>,
): string | undefined {
  if (!requests || !resources) return undefined;
  const left = allOf(resources);
  for (const { requests: held = {} } of reservations) {
    for (const resource of RESOURCES) left[resource] -= held[resource] ?? 0;
  }
  return lacksAmount(requests, {
    cpu: Math.min(left.cpu, resources.cpu_available),
    memory: Math.min(left.memory, resources.memory_available),
    disk: Math.min(left.disk, resources.disk_free),
    gpu: left.gpu,
  });
}

export const RESOURCES = ["cpu", "memory", "disk", "gpu"] as const;
type Resource = (typeof RESOURCES)[number];
type Amounts = Record<Resource, number>;

function allOf({ cpu_total, memory_total, disk_total, gpus }: WorkerResources): Amounts {
  return { cpu: cpu_total, memory: memory_total, disk: disk_total, gpu: gpus.length };
}

function amountsOf(requests: ResourceRequests): (readonly [Resource, number])[] {
  return RESOURCES.flatMap((resource) => {
    const amount = requests[resource];
    return amount === undefined ? [] : [[resource, amount] as const];
  });
}

function lacksAmount(requests: ResourceRequests, has: Amounts): string | undefined {
  for (const resource of RESOURCES) {
    const wanted = requests[resource];
    // Fractions of cores add up to a little more or less than they should.
    if (wanted !== undefined && wanted > has[resource] + 1e-9) return resource;
  }
  return undefined;
}

function hasPackage(packages: readonly WorkerPackage[], wanted: string): boolean {
  const { name, range } = parsePackageRequest(wanted) ?? { name: wanted, range: undefined };
  return packages.some(
    (one) => one.name === name && (range === undefined || satisfies(one.version, range)),
  );
}
