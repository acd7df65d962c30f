import { EngineError } from "@engine/contract";
import type { RunResult } from "./run-result.ts";

/** How a local run begins or goes on. */
export interface LocalRunOptions {
  /** Continue this execution instead of starting one. */
  readonly executionId?: string | undefined;
  /** Which pause `input` answers, when several are open: its name or `task_call_id`. */
  readonly pause?: string | undefined;
  /** Called before the body runs: from now on the execution can be continued by this id. */
  readonly onStarted?: ((executionId: string) => void) | undefined;
}

/** Runs workflows in the calling process; `@engine/local` provides it. */
export interface LocalHost {
  // biome-ignore lint/suspicious/noExplicitAny: the host takes any workflow
  run(workflow: any, input: unknown, options: LocalRunOptions): Promise<RunResult<any>>;
}

let host: LocalHost | undefined;

/** Makes `workflow.run` run there from now on; the last one that was set counts. */
export function setLocalHost(local: LocalHost): void {
  host = local;
}

export function localHost(): LocalHost {
  if (host) return host;
  throw new EngineError(
    "no_local_host",
    'workflow.run() runs in this process and needs the embedded engine: add import "@engine/local" once',
  );
}
