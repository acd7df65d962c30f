import { type ExecutionRecord, isTerminal } from "@engine/contract";
import { refText } from "../arguments/workflow-ref.ts";
import { Reported, reportError } from "../io/cli-error.ts";
import type { CliIo } from "../io/cli-io.ts";
import { detailedView, failureSentence } from "../render/execution-view.ts";
import { shellQuote } from "../render/value-text.ts";
import { type ServerCall, type ServerOptions, serverFlag } from "../server-call.ts";

/** Prints what a run or resume answered, and how to go on. */
export function printRecord(
  io: CliIo,
  server: ServerCall,
  record: ExecutionRecord,
  options: ServerOptions,
): void {
  server.print(record, detailedView);
  concludeWith(io, record, options);
}

/** The last word on an execution: exit 1 when it failed, else a hint while it is not finished. */
export function concludeWith(io: CliIo, record: ExecutionRecord, options: ServerOptions): void {
  if (record.state === "FAILED" || record.state === "CANCELLED") {
    reportError(io, failureSentence(record));
    // A caller who may run a workflow is not told its lines; a caller who may read the execution is.
    if (record.state === "FAILED" && options.format === "simple") {
      const show = `npx engine execution show ${record.execution_id} --detailed`;
      io.err.write(`see where it failed with: ${show}${serverFlag(options)}\n`);
    }
    throw new Reported();
  }
  if (options.format === "simple" && !isTerminal(record.state)) {
    io.err.write(nextStep(record, options));
  }
}

/** The command that goes on with an execution as it is now. */
export function nextStep(record: ExecutionRecord, options: ServerOptions): string {
  const server = serverFlag(options);
  const { execution_id, pause, namespace, workflow, waiting } = record;
  if (pause) {
    const ref = refText({ namespace, name: workflow });
    const several = waiting.filter(({ kind }) => kind === "pause").length > 1;
    const which = several ? ` --pause ${shellQuote(pause.name)}` : "";
    return `resume it with: npx engine workflow resume ${ref} ${execution_id} '<JSON>'${which}${server}\n`;
  }
  const signal = waiting.find(({ kind }) => kind === "signal");
  if (signal) {
    return `signal it with: npx engine execution signal ${execution_id} ${shellQuote(signal.name)} '<JSON>'${server}\n`;
  }
  return `follow it with: npx engine execution watch ${execution_id}${server}\n`;
}
