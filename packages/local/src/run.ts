import type { AnyWorkflow, LocalRunOptions, RunResult, Workflow } from "@engine/sdk";
import { processLocal } from "./process-local.ts";

/**
 * Runs a workflow in this process on the configured database. Resolves when it has ended or
 * paused; a workflow that fails does not reject, the result says so. With `executionId` it
 * continues that execution, and `input` is what its pause returns.
 */
export function run<Input, Output>(
  workflow: Workflow<Input, Output>,
  input?: Input,
): Promise<RunResult<Output>>;
export function run<Input, Output>(
  workflow: Workflow<Input, Output>,
  input: unknown,
  options: LocalRunOptions,
): Promise<RunResult<Output>>;
export async function run(
  workflow: AnyWorkflow,
  input?: unknown,
  options: LocalRunOptions = {},
): Promise<RunResult> {
  return (await processLocal()).run(workflow, input, options);
}
