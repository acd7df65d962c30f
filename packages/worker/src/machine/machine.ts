import type { Config, WorkerPackage } from "@engine/contract";
import type { Runner, RunnerEvents } from "../runners/runner.ts";
import type { World } from "../world.ts";
import { type LoopLag, startLoopLag } from "./health.ts";
import { type MachineLoad, machineLoad } from "./machine-load.ts";
import { ModuleCache, type ModuleCacheOptions } from "./module-cache.ts";
import { modulesFolder } from "./modules-folder.ts";
import { resolvablePackages } from "./resolvable-packages.ts";
import { openResources, type Resources } from "./resources.ts";

/**
 * What a worker finds on the machine that it runs on. The simulation, where a whole engine runs in one
 * process and under one clock, brings a machine of its own: no file, no disk, no thread is touched.
 */
export interface Machine {
  /** Where bundles lie. */
  readonly folder: string;
  readonly resources: Pick<Resources, "latest" | "budget">;
  readonly packages: readonly WorkerPackage[];
  /** How long the main loop keeps others waiting. */
  readonly lag: LoopLag;
  /** How busy it is; absent where that is not to be known. */
  readonly load?: MachineLoad;
  modules(
    options: Omit<ModuleCacheOptions, "folder">,
  ): Pick<ModuleCache, "ensure" | "file" | "readable">;
  /** Runs bodies on the main thread; the worker's own way when absent. */
  readonly inline?: (events: RunnerEvents) => Runner;
}

export interface MachineOptions extends Pick<World, "setTimer" | "monotonic" | "log"> {
  readonly config: Config["workers"] & Pick<Config, "home">;
}

/** The machine that this process runs on. */
export async function openMachine(options: MachineOptions): Promise<Machine> {
  const { config } = options;
  const [folder, resources, packages] = await Promise.all([
    modulesFolder(config.home),
    openResources(config.home, config.resources),
    findPackages(options),
  ]);
  return {
    folder,
    resources,
    packages,
    lag: startLoopLag(options),
    load: machineLoad,
    modules: (given) => new ModuleCache({ ...given, folder }),
  };
}

async function findPackages({ config, log }: MachineOptions): Promise<WorkerPackage[]> {
  const { packages, leftOut } = await resolvablePackages(config.packages);
  if (leftOut > 0) {
    log.warn(
      { packages: packages.length, left_out: leftOut },
      "there are more packages here than a worker can tell; name those that workflows ask for in engine.workers.packages",
    );
  }
  return packages;
}
