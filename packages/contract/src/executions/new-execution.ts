import type { Failure } from "../errors/failure.ts";
import type { DeliveryGuard } from "../hooks/delivery-guard.ts";
import type { HookLineage } from "../hooks/lineage.ts";
import type { NewEvent } from "../log/event.ts";
import type { Trigger } from "../log/event-values.ts";
import type { Encoded } from "../values/value.ts";
import type { ExecutionRow, Requirements } from "./execution-row.ts";

/** What an execution is created from. */
export interface NewExecution {
  readonly execution_id: string;
  readonly namespace: string;
  readonly workflow: string;
  readonly version: number | null;
  readonly module_hash: string | null;
  readonly name?: string | null;
  readonly input: Encoded;
  readonly trigger: Trigger;
  /** Id of the principal that starts it, which it also runs as. */
  readonly by: string | null;
  /** Whose rights apply to it, where that is another one: a child has those of its parent (AUTH-34). */
  readonly run_as?: string | null;
  readonly priority?: number | undefined;
  readonly timeout_ms?: number | null;
  readonly transient?: boolean;
  /** Random text that seeds the generator behind `Math.random` in the body. */
  readonly seed: string;
  /** The worker that is asked first, as if it had run it before: the parent's, or the source's. */
  readonly preferred_worker?: string | null;
  readonly requirements?: Requirements | null;
  /** What it needs of a worker cannot be told: it is created and has failed at once (AFF-5). */
  readonly unplaceable?: Failure | null;
  /** The instant before which no worker gets the execution, milliseconds since 1970. */
  readonly not_before?: number | null;
  readonly park_ttl_ms?: number | null;
  /** As it is stored: sealed, or its JSON where there is no key. */
  readonly routing_input?: string | null;
  /** When an execution has this key already, none is created and that one is the answer. */
  readonly unique?: { readonly key: string; readonly request_hash: string } | undefined;
  /** The schedule that starts it, and the instant that was due; null: somebody triggered it. */
  readonly schedule?: { readonly name: string; readonly scheduled_for: number | null } | undefined;
  /** The hook behind it: of a child its parent's, of a fork its source's (HOOK-33). */
  readonly hook?: HookLineage | null;
  /** The delivery that it settles; it is only created while that is as it was judged (HOOK-30). */
  readonly delivery?: DeliveryGuard | undefined;
  readonly parent?:
    | (Pick<ExecutionRow, "execution_id" | "depth"> & {
        /** Null of one that a task has started with the execution's token (AUTH-43). */
        readonly call_id: string | null;
        readonly detached: boolean;
      })
    | undefined;
  /** A fork goes on from a copy of another execution's log (EXE-87). */
  readonly fork?:
    | {
        readonly from: { readonly execution_id: string; readonly seq: number };
        /** The events after WORKFLOW_CREATED that are copied. */
        readonly history: readonly NewEvent[];
        /** The label that the source was created with. */
        readonly label?: string | null;
        /** Children of the calls that are open at the cut. */
        readonly calls: CallResolutions;
      }
    | undefined;
  readonly now: number;
}

/** What becomes of a `call`: the child to create, or why there is none. */
export type CallResolution =
  | { readonly kind: "child"; readonly fresh: NewExecution }
  | { readonly kind: "refused"; readonly failure: Failure };

/** By `task_call_id`. */
export type CallResolutions = ReadonlyMap<string, CallResolution>;
