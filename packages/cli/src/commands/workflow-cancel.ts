import type { ExecutionRecord } from "@engine/contract";
import type { Command } from "commander";
import type { CliIo } from "../cli-io.ts";
import { examples } from "../examples.ts";
import { executionView } from "../render/execution-view.ts";
import { callServer, type ServerOptions, serverOptions } from "../server-call.ts";
import { refArgument, type WorkflowRef } from "../workflow-ref.ts";
import { concludeWith } from "./run-answer.ts";

interface CancelOptions extends ServerOptions {
  readonly sync?: boolean;
  readonly reason?: string;
}

export function addCancel(workflow: Command, io: CliIo): void {
  const command = workflow
    .command("cancel")
    .summary("Cancels an execution and its children.")
    .description(
      "Cancels an execution and the children it started. What runs is told to stop and rolled back; without --sync the answer does not wait for that.",
    )
    .addArgument(refArgument())
    .argument("<id>", "execution id")
    .option("--sync", "wait until it has ended")
    .option("--reason <text>", "why: kept in its log and shown with it");
  serverOptions(command).action((ref: WorkflowRef, id: string, options: CancelOptions) =>
    cancel(io, { ref, id, options }),
  );
  examples(command, [
    "workflow cancel shop/checkout 0198c2f4-5b7a-7c31-9d7e-3f1b8a6c2d10",
    `workflow cancel shop/checkout 0198c2f4-5b7a-7c31-9d7e-3f1b8a6c2d10 --sync --reason "ordered twice"`,
  ]);
}

interface Cancel {
  readonly ref: WorkflowRef;
  readonly id: string;
  readonly options: CancelOptions;
}

async function cancel(io: CliIo, { ref, id, options }: Cancel): Promise<void> {
  const { sync, reason } = options;
  await callServer(io, options, async ({ client, print, paint }) => {
    const { body } = await client.executions.cancel({
      params: { ...ref, id },
      query: { mode: sync ? "sync" : "async" },
      body: reason === undefined ? null : { reason },
    });
    print(body, () => executionView(body, paint, io.now()));
    conclude(io, body, options);
  });
}

/** Cancelled is what was asked for, so it is no error here. */
function conclude(io: CliIo, record: ExecutionRecord, options: ServerOptions): void {
  if (record.state === "CANCELLED") return;
  if (record.state === "COMPLETED") {
    io.err.write("note: it had completed before the cancel reached it\n");
    return;
  }
  concludeWith(io, record, options);
}
