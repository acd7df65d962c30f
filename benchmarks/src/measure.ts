import type { TwoProcesses } from "./engine.ts";
import type { Table } from "./table.ts";

/** What a measurement may use. */
export interface Bench {
  /** A short run that shows whether everything works; its figures mean little. */
  readonly quick: boolean;
  /** One server and one worker as processes, the same for every measurement of the run. */
  readonly engine: () => Promise<TwoProcesses>;
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
  /** Rejects with a GateError when a result is wrong. Ends by itself. */
  run(bench: Bench): Promise<Report>;
}
