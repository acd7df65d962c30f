/** What callers ask of executions. */
import type { Json, RoutingInput } from "@engine/contract";
import type { LargeJson } from "@engine/http/json";
import type { Start } from "../starts/start.ts";
import type { FrameData } from "./record.ts";

export interface WorkflowRef {
  readonly namespace: string;
  readonly name: string;
}

export interface StartRequest
  extends Pick<Start, "trigger" | "label" | "priority" | "start_at" | "park_ttl">,
    Pick<Start, "required_worker" | "preferred_worker" | "routing_input"> {
  readonly namespace: string;
  readonly workflow: string;
  /** The latest when absent. */
  readonly version?: number | undefined;
  /** Plain JSON. */
  readonly input: Json | LargeJson;
  readonly by: string | null;
  /** The execution whose task asks, by its token: that is the parent (AUTH-43). */
  readonly via?: string | null;
  /** Of two starts with the same key, one creates and the other is answered with it (EXE-84). */
  readonly idempotency_key?: string | undefined;
}

interface ChangeRequest {
  readonly execution_id: string;
  readonly by: string | null;
}

/** A request about an execution that the path may name together with its workflow. */
interface WorkflowRequest extends ChangeRequest {
  /** When given, an execution of another workflow is not found (EXE-79). */
  readonly workflow?: WorkflowRef | undefined;
}

export interface ResumeRequest extends WorkflowRequest {
  /** Plain JSON. */
  readonly input: Json | LargeJson;
  /** Name or `task_call_id` of the pause. */
  readonly pause?: string | undefined;
}

export interface CancelRequest extends WorkflowRequest {
  readonly reason?: string | undefined;
}

export interface PrincipalRequest {
  readonly execution_id: string;
  /** Id of the principal. */
  readonly run_as: string;
  /** Nothing is done unless it is still this one's. */
  readonly from?: string | null;
}

export interface SignalRequest extends ChangeRequest {
  readonly name: string;
  /** Plain JSON. */
  readonly payload: Json | LargeJson;
}

/** At most one of `from_seq` and `from_call` is given; with neither the fork begins anew (EXE-87). */
export interface ForkRequest extends ChangeRequest {
  readonly from_seq?: number | undefined;
  readonly from_call?: string | undefined;
  /** Plain JSON; only without a cut. */
  readonly input?: Json | LargeJson | undefined;
  readonly version?: number | undefined;
  readonly label?: string | undefined;
  /** In place of that of the source. */
  readonly routing_input?: RoutingInput | undefined;
}

export interface FollowRequest {
  readonly execution_id: string;
  /** The stream begins behind this event, instead of with the state now. */
  readonly after?: number | undefined;
  /** The stream ends at a pause, as that of a run does. */
  readonly asRun?: boolean | undefined;
}

export interface FollowOptions {
  /** Records in the frames carry their events. */
  readonly detailed?: boolean | undefined;
  /** `all`: each event of the log is a frame, too (EXE-92). */
  readonly events?: "all" | undefined;
  /** What frames say; records when absent. */
  readonly frames?: FrameData | undefined;
  /** The stream ends after this time, whatever the execution does. */
  readonly timeoutMs?: number | undefined;
  /** Fires when the reader has left. */
  readonly signal?: AbortSignal | undefined;
}
