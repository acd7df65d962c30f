import type { Runner } from "@engine/contract";

export const STORES = ["sqlite", "postgres"] as const;
export type StoreKind = (typeof STORES)[number];

export const RUNNERS = ["thread", "process"] as const satisfies readonly Runner[];

/** What a run is made on: figures of two setups are not those of one engine. */
export interface Setup {
  readonly store: StoreKind;
  readonly runner: (typeof RUNNERS)[number];
}
