/**
 * What is left of a workflow's declarations once an execution's inputs were read: only the worker's side
 * is open. Taken once, at creation, and kept unchanged in one canonical form (DSP-2).
 */
import type { CompareOp, ResourceField } from "./expression.ts";

/** An attribute of a worker compared with a value: text, or a number that metadata may hold as one. */
export interface AttributeNeed {
  readonly of: "label" | "meta";
  readonly key: string;
  readonly op: "eq" | "ne";
  readonly value: string | number;
}

/** A term that this server does not know, of a version that a later one registered: no worker has it. */
export interface UnknownNeed {
  readonly of: "unknown";
}

export type Need = AttributeNeed | UnknownNeed;

/** Something of a worker that a policy looks at, with its key known. */
export type WorkerSelector =
  | { readonly kind: "label" | "meta" | "metric"; readonly key: string }
  | { readonly kind: "resource"; readonly field: ResourceField }
  | { readonly kind: "load" | "utilization" };

export interface WorkerComparison {
  readonly left: WorkerSelector;
  readonly op: CompareOp;
  readonly right: string | number;
}

/** A term of a policy (RTE-4). `when`: it counts only for workers for which this holds. */
export type Preference = (
  | ({ readonly kind: "prefer" } & WorkerComparison)
  | { readonly kind: "least" | "most"; readonly selector: WorkerSelector }
  | { readonly kind: "sticky" }
) & { readonly weight: number; readonly when?: WorkerComparison };

export interface Placement {
  /** All of them hold of its worker. */
  readonly affinity?: readonly Need[];
  /** How workers that may have it are ranked; absent: by their load. */
  readonly routing?: readonly Preference[];
}

/**
 * Terms that read routing input, which nobody reads back (RIN-3): sealed wherever there is a key, the
 * same text for the same terms, so that equal needs stay one group.
 */
export type HiddenPlacement = { readonly sealed: string } | { readonly plain: Placement };

/**
 * A limit with its key read (FLW-4). Whoever has the same bucket shares its places: it names the workflow
 * or the operators' limit, and the key's value.
 */
export type ResolvedLimit = { readonly bucket: string } & (
  | {
      readonly kind: "concurrency";
      readonly count: number;
      readonly hold_while_waiting?: true | undefined;
      readonly overflow?: "reject" | undefined;
    }
  | { readonly kind: "rate"; readonly count: number; readonly period_ms: number }
  /** What it allows is looked up with each claim. */
  | { readonly kind: "limit"; readonly name: string }
);

/** The part of the claims of its priority that an execution belongs to (FLW-6). */
export interface TurnShare {
  /** Executions of one key wait in one line. */
  readonly key: string;
  /** From 1 to 100: twice the weight is twice the claims. */
  readonly weight: number;
}
