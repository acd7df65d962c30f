import type { WorkerProtocol } from "@engine/contract";
import type { Engine } from "@engine/server";
import type { Store } from "@engine/store";
import type { LoadedPrograms } from "../load-programs.ts";
import type { Plan } from "../plan.ts";

/** A bug that is put into the engine from outside: a simulation that cannot fail proves nothing. */
export interface PlantedBug {
  /** In a sentence. */
  readonly what: string;
  /** The judge that must notice. */
  readonly seenBy: string;
  /** Whether it can show in a run; in any unless given. */
  mayShow?(plan: Plan): boolean;
  /** What servers take for the store. */
  store?(store: Store): Store;
  /** What workers are offered by a server. */
  protocol?(protocol: WorkerProtocol, store: Store): WorkerProtocol;
  /** What clients are offered by a server. */
  engine?(engine: Engine): Engine;
  /** The code that workers find. */
  programs?(programs: LoadedPrograms): LoadedPrograms;
}

export type PlantedBugs = Readonly<Record<string, PlantedBug>>;
