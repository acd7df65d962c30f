import type { Encoded, NewExecution, Trigger } from "@engine/contract";
import type { LargeJson } from "@engine/http/json";
import type { InputSchema } from "../catalog/input/input-check.ts";
import type { VersionPin } from "./version-pin.ts";

/** A workflow by name; its latest version unless one is named. */
export interface NamedWorkflow {
  readonly namespace: string;
  readonly workflow: string;
  readonly version?: number | null | undefined;
}

/** A version that the caller has found by itself, and what its input has to be. */
export interface FoundVersion {
  readonly pin: VersionPin;
  /** The input is not checked without one. */
  readonly schema: InputSchema;
}

/** Of two starts under one key one creates an execution, and the other is answered for it (EXE-84). */
export interface StartKey {
  /** Among the keys of all executions. */
  readonly text: string;
  /** What two starts under the key have in common: their input and version when absent. */
  readonly request_hash?: string;
}

/** What a caller, a schedule, a call or a fork asks for when it starts an execution. */
export interface Start extends Pick<NewExecution, "schedule" | "parent" | "fork"> {
  readonly of: NamedWorkflow | FoundVersion;
  readonly trigger: Trigger;
  /** Whom it runs for. A function is asked once everything else about the start is right. */
  readonly by: string | null | (() => Promise<string | null>);
  readonly input: Encoded | LargeJson;
  /** Where the input stood, first in the path of each issue. */
  readonly root: string;
  /** Given when somebody listens for the execution already; else it gets a fresh one. */
  readonly execution_id?: string;
  readonly key?: StartKey | undefined;
  readonly label?: string | null | undefined;
  readonly priority?: number | undefined;
  /** No worker gets it before, milliseconds since 1970. */
  readonly start_at?: number | undefined;
  /** Seconds it may wait for a worker; 0 = for ever. As the server is configured when absent (DSP-8). */
  readonly park_ttl?: number | undefined;
  readonly required_worker?: string | undefined;
  readonly preferred_worker?: string | undefined;
  /** Is asked first, after a preferred worker: that of the parent, or of the source of a fork. */
  readonly last_worker?: string | null;
  /** Of the numbers that the body sees; fresh ones when absent. */
  readonly seed?: string;
}
