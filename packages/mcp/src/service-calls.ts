import type { Json, ResolvedService, ServiceEndpoint, ServiceRun } from "@engine/contract";

/** A service as one caller sees it: what is listed to others too, with the caller's own `can_run`. */
export type ListedService = Pick<ResolvedService, "endpoints">;

/** A run that is asked for; `input` is posted as the body (SVC-30). */
export interface AskedRun {
  readonly kind: "run";
  readonly endpoint: ServiceEndpoint;
  readonly input: Json;
  /** Sent as `Idempotency-Key` (SVC-55). */
  readonly idempotency_key?: string;
}

/** A resume that is asked for (SVC-32). */
export interface AskedResume {
  readonly kind: "resume";
  readonly endpoint: ServiceEndpoint;
  readonly execution_id: string;
  readonly input: Json;
}

/** An execution of an endpoint's workflow. */
export interface AskedExecution {
  readonly endpoint: ServiceEndpoint;
  readonly execution_id: string;
}

/** What a followed run tells of: where it is, or a value of a task's `progress()`. */
export type RunFrame =
  | { readonly kind: "state"; readonly run: ServiceRun }
  | { readonly kind: "progress"; readonly value: Json };

/**
 * The requests of section 4 with the credential of one MCP request, and never another's (MCP-8). Server
 * and gateway each have their own. Everything here rejects with an `EngineError` for what the engine
 * refuses, as the route would have answered it, and where the engine was not reached.
 */
export interface ServiceCalls {
  /**
   * The service, authorized as the caller (SVC-12, MCP-19).
   *
   * @param options `fresh`: a tool was missed, so what is remembered will not do.
   */
  list(options?: { readonly fresh?: boolean }): Promise<ListedService>;
  /** Starts in mode async. */
  run(asked: AskedRun): Promise<ServiceRun>;
  /** Resumes in mode async. */
  resume(asked: AskedResume): Promise<ServiceRun>;
  status(asked: AskedExecution): Promise<ServiceRun>;
  /**
   * Runs or resumes in mode stream (SVC-52): the first frame tells the execution, the last one where it
   * ended or paused. A stream that ends before, as when a server drains, just ends here too.
   *
   * @param signal Ends the reading; the execution goes on.
   */
  follow(asked: AskedRun | AskedResume, signal: AbortSignal): AsyncIterable<RunFrame>;
  /** Requests cancellation of the execution. */
  cancel(asked: AskedExecution): Promise<void>;
}
