/**
 * Whether a worker can have an execution at all: what it must be (name, runner) and what it must have
 * room for (RES-2). Pure, and the same for the gate, its answers to "why", and the search for others.
 */
import type {
  Requirements,
  ResourceRequests,
  Runner,
  WorkerPackage,
  WorkerResources,
} from "@engine/contract";
import { satisfies } from "semver";

/** A worker as far as requirements look at it. */
export interface Capabilities {
  readonly worker: string;
  readonly runners: readonly Runner[];
  /** Null: it has not said what it has, and has room for whatever is asked. */
  readonly resources: WorkerResources | null;
  readonly packages: readonly WorkerPackage[];
}

/** The first thing a worker lacks for good, in words; undefined when it could have the execution. */
export function lacks(
  requirements: Requirements | null,
  { worker, runners, resources, packages }: Capabilities,
): string | undefined {
  if (!requirements) return undefined;
  const { worker: required, runner, requests } = requirements;
  if (required !== undefined && required !== worker) return `worker ${required}`;
  if (runner !== undefined && !runners.includes(runner)) return `runner ${runner}`;
  if (!requests) return undefined;
  const missing = requests.packages?.find((wanted) => !hasPackage(packages, wanted));
  if (missing !== undefined) return `package ${missing}`;
  if (!resources) return undefined;
  return lacksAmount(requests, {
    cpu: resources.cpu_total,
    memory: resources.memory_total,
    disk: resources.disk_total,
    gpu: resources.gpus.length,
  });
}

/**
 * The first resource of which too little is free now: of each the lower of what the worker reported
 * and what its executions leave of the total.
 */
export function lacksRoom(
  requests: ResourceRequests | undefined,
  resources: WorkerResources | null,
  reservations: Iterable<Requirements>,
): string | undefined {
  if (!requests || !resources) return undefined;
  const left = {
    cpu: resources.cpu_total,
    memory: resources.memory_total,
    disk: resources.disk_total,
    gpu: resources.gpus.length,
  };
  for (const { requests: held = {} } of reservations) {
    left.cpu -= held.cpu ?? 0;
    left.memory -= held.memory ?? 0;
    left.disk -= held.disk ?? 0;
    left.gpu -= held.gpu ?? 0;
  }
  return lacksAmount(requests, {
    cpu: Math.min(left.cpu, resources.cpu_available),
    memory: Math.min(left.memory, resources.memory_available),
    disk: Math.min(left.disk, resources.disk_free),
    gpu: left.gpu,
  });
}

type Amounts = Readonly<Record<"cpu" | "memory" | "disk" | "gpu", number>>;

function lacksAmount(requests: ResourceRequests, has: Amounts): string | undefined {
  for (const resource of ["cpu", "memory", "disk", "gpu"] as const) {
    const wanted = requests[resource];
    if (wanted !== undefined && wanted > has[resource]) return resource;
  }
  return undefined;
}

/** `name` or `name@<semver range>`; a scope's `@` begins the name. */
function hasPackage(packages: readonly WorkerPackage[], wanted: string): boolean {
  const at = wanted.lastIndexOf("@");
  const [name, range] = at > 0 ? [wanted.slice(0, at), wanted.slice(at + 1)] : [wanted, "*"];
  return packages.some((one) => one.name === name && satisfies(one.version, range));
}
