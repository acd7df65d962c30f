import { execFile } from "node:child_process";
import { statfs } from "node:fs/promises";
import { availableParallelism, loadavg, totalmem } from "node:os";
import { dirname, resolve } from "node:path";
import { promisify } from "node:util";
import {
  type Config,
  EngineError,
  parseResourceAmount,
  type TaskRequests,
  type WorkerResources,
} from "@engine/contract";

/** NVIDIA's own program comes with its driver. */
const GPU_PROGRAM = "nvidia-smi";
/** How long it may take. */
const GPU_LOOK_MS = 5_000;
const MIB = 2 ** 20;
/** A card that the configuration counts. */
const A_GPU = { name: "gpu", memory_total: 0 };

type Overrides = Config["workers"]["resources"];
type Gpus = WorkerResources["gpus"];

/**
 * What a worker may use of its machine, and how much of it is free (RES-3). What the configuration
 * says of a resource counts as free, too.
 */
export class Resources {
  readonly #look: () => Promise<WorkerResources>;
  #latest: WorkerResources;
  #isLooking = false;

  constructor(look: () => Promise<WorkerResources>, first: WorkerResources) {
    this.#look = look;
    this.#latest = first;
  }

  /** As they were at the last look; the next one begins now. A disk that hangs keeps nobody waiting. */
  get latest(): WorkerResources {
    void this.#renew();
    return this.#latest;
  }

  /** All that there is for tasks (RES-4). */
  get budget(): TaskRequests {
    const { cpu_total: cpu, memory_total: memory, gpus } = this.#latest;
    return { cpu, memory, gpu: gpus.length };
  }

  async #renew(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      this.#latest = await this.#look();
    } catch {
      // The last look stands; the next heartbeat begins another one.
    } finally {
      this.#isLooking = false;
    }
  }
}

/** Rejects only for an override that is no amount. */
export async function openResources(home: string, overrides: Overrides): Promise<Resources> {
  const { cpu, gpu } = overrides;
  const [memory, disk] = [bytesOf(overrides, "memory"), bytesOf(overrides, "disk")];
  const gpus = await (gpu === undefined ? lookForGpus() : Array.from({ length: gpu }, () => A_GPU));
  return new Resources(look, await look());

  async function look(): Promise<WorkerResources> {
    const cores = availableParallelism();
    const disks = disk === undefined ? await diskOf(home) : { total: disk, free: disk };
    return {
      cpu_total: cpu ?? cores,
      cpu_available: cpu ?? Math.max(0, cores - (loadavg()[0] ?? 0)),
      memory_total: memory ?? memoryTotal(),
      memory_available: memory ?? Math.min(process.availableMemory(), memoryTotal()),
      disk_total: disks.total,
      disk_free: disks.free,
      gpus: [...gpus],
    };
  }
}

function bytesOf(overrides: Overrides, key: "memory" | "disk"): number | undefined {
  const value = overrides[key];
  if (value === undefined) return undefined;
  const bytes = parseResourceAmount(value);
  if (bytes !== undefined) return bytes;
  throw new EngineError(
    "invalid_input",
    `engine.workers.resources.${key}: expected bytes or text such as "16GiB" or "500GB"; got "${value}"`,
  );
}

/** A container's limit, where there is one, is all that this process will ever get. */
function memoryTotal(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}

/** A folder that is made later lies where its parent does. */
async function diskOf(folder: string): Promise<{ total: number; free: number }> {
  try {
    const { bsize, blocks, bavail } = await statfs(folder);
    return { total: bsize * blocks, free: bsize * bavail };
  } catch {
    const parent = dirname(resolve(folder));
    return parent === resolve(folder) ? { total: 0, free: 0 } : diskOf(parent);
  }
}

/** Most machines do not have that program, which is an answer too. */
function lookForGpus(): Promise<Gpus> {
  const query = ["--query-gpu=name,memory.total", "--format=csv,noheader,nounits"];
  return promisify(execFile)(GPU_PROGRAM, query, { timeout: GPU_LOOK_MS }).then(
    ({ stdout }) => gpusIn(stdout),
    () => [],
  );
}

/** @param table One line for each card: its name, a comma, its memory in MiB. */
export function gpusIn(table: string): Gpus {
  return table.split("\n").flatMap((line) => {
    const [, name, mib] = /^(.+), *(\d+)\s*$/.exec(line) ?? [];
    return name ? [{ name, memory_total: Number(mib) * MIB }] : [];
  });
}
