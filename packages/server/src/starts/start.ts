import type {
  DeclaredPlacement,
  Encoded,
  Failure,
  HookLineage,
  NewExecution,
  RoutingInput,
  Trigger,
  TurnShare,
} from "@engine/contract";
import type { LargeJson } from "@engine/http/json";
import type { InputSchema } from "../catalog/input/input-check.ts";
import type { VersionPin } from "./version-pin.ts";

/** A workflow by name; its latest version unless one is named. */
export interface NamedWorkflow {
  readonly namespace: string;
  readonly workflow: string;
  readonly version?: number | null | undefined;
}

/** What a version declares of where and when its executions run. */
export interface Declared extends DeclaredPlacement {
  readonly limits: unknown;
  readonly fairness: unknown;
}

/** A version that was found before the start, and the schema of its input. */
export interface FoundVersion {
  readonly pin: VersionPin;
  /** The input is not checked without one. */
  readonly schema: InputSchema;
  /** Terms that are still to be read against the inputs; absent where there are none. */
  readonly declared: Declared | undefined;
  /** Why no worker may have it, where that was found out before. */
  readonly unplaceable?: Failure | null;
  /** What its workflow states; null: nothing. */
  readonly priority?: number | null;
}

/** Of two starts under one key, one creates an execution and the other is answered with it (EXE-84). */
export interface StartKey {
  /** Unique among all executions. */
  readonly text: string;
  /** The same for starts that may share the key; made of input and version when absent. */
  readonly request_hash?: string;
}

/** The hook behind a start, by its input. */
export type LineageOf = (input: unknown) => HookLineage | null | Promise<HookLineage | null>;

/** What a caller, a schedule, a hook, a call or a fork asks for when it starts an execution. */
export interface Start extends Pick<NewExecution, "schedule" | "parent" | "fork" | "delivery"> {
  readonly of: NamedWorkflow | FoundVersion;
  readonly trigger: Trigger;
  /** The account it runs for. A function is called once everything else about the start is right. */
  readonly by: string | null | (() => Promise<string | null>);
  readonly input: Encoded | LargeJson;
  /**
   * The hook behind it; none when absent. A function is called with the input, or with as much of a large
   * one as `LINEAGE_PATHS` name.
   */
  readonly hook?: HookLineage | null | LineageOf;
  /** Where the request has the input, first in the path of each issue. */
  readonly root: string;
  /** Given when somebody listens for the execution already; a fresh one when absent. */
  readonly execution_id?: string;
  readonly key?: StartKey | undefined;
  readonly label?: string | null | undefined;
  readonly priority?: number | undefined;
  /** With whom it takes turns where its workflow states nothing: as its parent does (DSP-10). */
  readonly fairness?: TurnShare | undefined;
  /** No worker gets the execution before this instant, milliseconds since 1970. */
  readonly start_at?: number | undefined;
  /** Seconds it may wait for a worker; 0 = for ever; as configured when absent (DSP-8). */
  readonly park_ttl?: number | undefined;
  readonly required_worker?: string | undefined;
  readonly preferred_worker?: string | undefined;
  /** Values that only matching reads (RIN-1); checked. One without keys is none. */
  readonly routing_input?: RoutingInput | undefined;
  /** The parent's worker, or that of a fork's source. It is asked right after a preferred one. */
  readonly last_worker?: string | null;
  /** Seeds the random numbers that the body sees; a fresh one when absent. */
  readonly seed?: string;
}
