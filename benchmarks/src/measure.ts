import type { TwoProcesses } from "./engine.ts";
import type { Setup, StoreKind } from "./setup.ts";
import type { Table } from "./table.ts";

/** What a measurement may use. */
export interface Bench {
  /** A short run that shows whether everything works; its figures mean little. */
  readonly quick: boolean;
  readonly setup: Setup;
  /** What ours runs on where a measurement compares; elsewhere `setup` says it. */
  readonly stores: readonly StoreKind[];
  /** Another checkout, built and installed, that this one is compared with. */
  readonly against?: string | undefined;
  /** One server and one worker as processes, the same for every measurement of the run. */
  readonly engine: () => Promise<TwoProcesses>;
  /** Tells whoever waits how far it is. */
  readonly tell: (line: string) => void;
}

export interface Report {
  readonly tables: readonly Table[];
  /** The figures by name, for the JSON file. */
  readonly figures: Readonly<Record<string, number>>;
  /** Everything measured, so that a reader can compute other figures. */
  readonly samples: Readonly<Record<string, readonly number[]>>;
}

export interface Measure {
  readonly name: string;
  /** What is measured, in a line of `--help`. */
  readonly means: string;
  /** Those it has something to say about; all unless given. */
  readonly stores?: readonly StoreKind[];
  /** Runs only when named: it installs something, or takes long. */
  readonly onlyWhenNamed?: boolean;
  /** Rejects with a GateError when a result is wrong. Ends by itself. */
  run(bench: Bench): Promise<Report>;
}
