/** What the worker and the thread of its metrics provider say to each other. */
import type { MetricsProvider } from "@engine/contract";

export type ProviderThreadData = MetricsProvider;

/** The worker only ever asks for the metrics of now, and not again before it is answered. */
export const ASK = "collect";

export type ProviderEntry = readonly [key: string, value: unknown];

export type FromProvider =
  /** The module is loaded and has the export. */
  | { readonly kind: "ready" }
  /** It never will be. */
  | { readonly kind: "unusable"; readonly why: string }
  | { readonly kind: "values"; readonly entries: readonly ProviderEntry[]; readonly beyond: number }
  | { readonly kind: "failed"; readonly why: string };
