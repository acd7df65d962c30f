import type { Command } from "commander";
import {
  actOnExecution,
  type ExecutionOptions,
  executionArgument,
  executionOfArgument,
} from "../../arguments/execution-argument.ts";
import { actOnExecutionOf } from "../../arguments/other-workflow.ts";
import { refArgument, type WorkflowRef } from "../../arguments/workflow-ref.ts";
import { examples } from "../../examples.ts";
import type { CliIo } from "../../io/cli-io.ts";
import { executionView } from "../../render/execution-view.ts";
import type { ServerCall } from "../../server-call.ts";
import { concludeWith } from "../run-answer.ts";

interface CancelOptions extends ExecutionOptions {
  readonly sync?: boolean;
  readonly reason?: string;
}

export function addCancel(workflow: Command, io: CliIo): void {
  const command = workflow
    .command("cancel")
    .summary("Cancels an execution and its children.")
    .description(DESCRIPTION)
    .addArgument(refArgument());
  cancelOptions(executionOfArgument(command));
  actOnExecutionOf(io, command, "cancel", (call, [ref], options: CancelOptions) =>
    call((server, id) => cancel(io, server, { ref, id, options })),
  );
  examples(command, [
    "workflow cancel shop/checkout 0198c2f4-5b7a-7c31-9d7e-3f1b8a6c2d10",
    `workflow cancel shop/checkout 0198c2f4-5b7a-7c31-9d7e-3f1b8a6c2d10 --sync --reason "ordered twice"`,
  ]);
}

/** The same by the id alone. */
export function addExecutionCancel(execution: Command, io: CliIo): void {
  const command = execution
    .command("cancel")
    .summary("Cancels an execution and its children.")
    .description(DESCRIPTION);
  cancelOptions(executionArgument(command));
  actOnExecution(io, command, (call, _, options: CancelOptions) =>
    call(async (server, id) => {
      const { body } = await server.client.executions.get({ params: { id } });
      const ref = { ns: body.namespace, wf: body.workflow };
      await cancel(io, server, { ref, id, options });
    }),
  );
  examples(command, [
    "execution cancel 0198c2f4-5b7a-7c31-9d7e-3f1b8a6c2d10",
    `execution cancel --last --sync --reason "ordered twice"`,
  ]);
}

const DESCRIPTION =
  "Cancels an execution and the children it started. What runs is told to stop and rolled back; without --sync the answer does not wait for that.";

function cancelOptions(command: Command): void {
  command
    .option("--sync", "wait until it has ended")
    .option("--reason <text>", "why: kept in its log and shown with it");
}

interface Cancel {
  readonly ref: WorkflowRef;
  readonly id: string;
  readonly options: CancelOptions;
}

async function cancel(
  io: CliIo,
  { client, print }: ServerCall,
  { ref, id, options }: Cancel,
): Promise<void> {
  const { sync, reason } = options;
  const { body } = await client.executions.cancel({
    params: { ...ref, id },
    query: { mode: sync ? "sync" : "async" },
    body: reason === undefined ? null : { reason },
  });
  print(body, executionView);
  // Cancelled is what was asked for, so it is no error here.
  if (body.state === "CANCELLED") return;
  if (body.state === "COMPLETED") {
    io.err.write("note: it had completed before the cancel reached it\n");
    return;
  }
  concludeWith(io, body, options);
}
