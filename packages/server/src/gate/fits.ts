/**
 * Whether a worker can have an execution at all: by its name and runners, by what it is, and by the
 * resources it must have (RES-2). Pure, and the same for the gate, its answers to "why", and the search
 * for others.
 */
import {
  holds,
  type Need,
  type Placement,
  parsePackageRequest,
  printNeed,
  type RankedWorker,
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

/** What an execution must have of a worker. */
export interface Needs {
  readonly requirements: Requirements | null;
  /** Terms that read routing input, opened: nobody is shown them (RIN-3). */
  readonly hidden?: Placement | undefined;
}

/** Stands for hidden terms that cannot be opened here: no worker has what they say. */
export const UNREADABLE: Placement = { affinity: [{ of: "unknown" }] };

/** All that is said of a hidden term (WHY-2). */
export const ROUTING_CONSTRAINT = "routing constraint";

/** The first thing that a worker lacks, in words; undefined when it could have the execution. */
export function lacks(needs: Needs, capabilities: Capabilities): string | undefined {
  if (!needs.requirements && !needs.hidden) return undefined;
  return lacking(needs, capabilities).next().value ?? undefined;
}

/** Everything that a worker lacks, in words. */
export function allLacking(needs: Needs, capabilities: Capabilities): readonly string[] {
  return [...lacking(needs, capabilities)];
}

function* lacking(needs: Needs, capabilities: Capabilities): Generator<string, undefined> {
  const { requirements, hidden } = needs;
  const { worker, runners, resources, packages } = capabilities;
  const fails = (need: Need) => !holds(need, capabilities);
  const {
    worker: required,
    runner,
    affinity = [],
    requests = {},
    totals = {},
  } = requirements ?? {};
  if (required !== undefined && required !== worker) yield `worker ${required}`;
  if (runner !== undefined && !runners.includes(runner)) yield `runner ${runner}`;
  for (const need of affinity) if (fails(need)) yield printNeed(need);
  if (hidden?.affinity?.some(fails)) yield ROUTING_CONSTRAINT;
  for (const wanted of requests.packages ?? []) {
    if (!hasPackage(packages, wanted)) yield `package ${wanted}`;
  }
  if (!resources) return;
  const all = allOf(resources);
  const resource = lacksAmount(requests, all) ?? lacksAmount(totals, all);
  if (resource !== undefined) yield resource;
}

/** Everything that is asked of a worker, in words, but for what nobody is shown. */
export function needs({ requirements, hidden }: Needs): string[] {
  const { runner, affinity = [], requests = {}, totals = {} } = requirements ?? {};
  const packages = requests.packages ?? [];
  return [
    ...(runner === undefined ? [] : [`runner ${runner}`]),
    ...affinity.map(printNeed),
    ...(hidden?.affinity === undefined ? [] : [ROUTING_CONSTRAINT]),
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
  return lacksAmount(requests, freeOf(resources, reservations));
}

/** What a policy sees of a worker's resources (RTE-1). */
export function rankedAmounts(
  resources: WorkerResources | null,
  reservations: Iterable<Requirements>,
): RankedWorker["amounts"] {
  if (!resources) return null;
  const { cpu_total, memory_total, disk_total } = resources;
  const { cpu, memory, disk } = freeOf(resources, reservations);
  const free = { cpu_available: cpu, memory_available: memory, disk_free: disk };
  return { cpu_total, memory_total, disk_total, ...free };
}

export const RESOURCES = ["cpu", "memory", "disk", "gpu"] as const;
type Resource = (typeof RESOURCES)[number];
type Amounts = Record<Resource, number>;

function freeOf(resources: WorkerResources, reservations: Iterable<Requirements>): Amounts {
  const left = allOf(resources);
  for (const { requests: held = {} } of reservations) {
    for (const resource of RESOURCES) left[resource] -= held[resource] ?? 0;
  }
  return {
    cpu: Math.min(left.cpu, resources.cpu_available),
    memory: Math.min(left.memory, resources.memory_available),
    disk: Math.min(left.disk, resources.disk_free),
    gpu: left.gpu,
  };
}

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
