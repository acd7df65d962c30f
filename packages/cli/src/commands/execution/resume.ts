import type { Command } from "commander";
import {
  actOnExecution,
  type ExecutionOptions,
  executionArgument,
  executionOfArgument,
} from "../../arguments/execution-argument.ts";
import { INPUT_HELP, readBody } from "../../arguments/input.ts";
import { actOnExecutionOf } from "../../arguments/other-workflow.ts";
import { refArgument, type WorkflowRef } from "../../arguments/workflow-ref.ts";
import { examples } from "../../examples.ts";
import type { CliIo } from "../../io/cli-io.ts";
import { type ServerCall, serverFlag } from "../../server-call.ts";
import { printRecord } from "../run-answer.ts";
import { followStream } from "../run-stream.ts";
import { modeOption, type WaitOptions, waitOptions, waitQuery } from "../wait-options.ts";
import { whileWaiting } from "../while-waiting.ts";

interface ResumeOptions extends WaitOptions, ExecutionOptions {
  readonly pause?: string;
}

const SUMMARY = "Answers an open pause.";
const DESCRIPTION =
  "Answers the open pause of an execution; INPUT is what its `pause` call returns.";

export function addResume(workflow: Command, io: CliIo): void {
  const command = workflow
    .command("resume")
    .summary(SUMMARY)
    .description(DESCRIPTION)
    .addArgument(refArgument());
  resumeOptions(executionOfArgument(command));
  actOnExecutionOf(io, command, "resume", async (call, [ref, input], options: ResumeOptions) => {
    const body = await readBody(input, io);
    await call((server, id) => resume(io, server, { ref, id, body, options }));
  });
  examples(command, [
    `workflow resume expense 0198c2f4-5b7a-7c31-9d7e-3f1b8a6c2d10 '{"ok":true}'`,
    `workflow resume expense --last '{"ok":true}'`,
  ]);
}

/** The same by the id alone. */
export function addExecutionResume(execution: Command, io: CliIo): void {
  const command = execution.command("resume").summary(SUMMARY).description(DESCRIPTION);
  resumeOptions(executionArgument(command));
  actOnExecution(io, command, async (call, [input], options: ResumeOptions) => {
    const body = await readBody(input, io);
    await call(async (server, id) => {
      const { body: record } = await server.client.executions.get({ params: { id } });
      const ref = { ns: record.namespace, wf: record.workflow };
      await resume(io, server, { ref, id, body, options });
    });
  });
  examples(command, [
    `execution resume 0198c2f4-5b7a-7c31-9d7e-3f1b8a6c2d10 '{"ok":true}'`,
    `execution resume --last --workflow shop/expense '{"ok":true}'`,
  ]);
}

function resumeOptions(command: Command): void {
  command
    .argument("[input]", INPUT_HELP)
    .option("--pause <name>", "which pause, when several are open")
    .addOption(modeOption("sync"));
  waitOptions(command);
}

interface Resume {
  readonly ref: WorkflowRef;
  readonly id: string;
  readonly body: Awaited<ReturnType<typeof readBody>>;
  readonly options: ResumeOptions;
}

async function resume(
  io: CliIo,
  server: ServerCall,
  { ref, id, body, options }: Resume,
): Promise<void> {
  const { mode, pause } = options;
  const { executions } = server.client;
  const query = { ...waitQuery(options), ...(pause !== undefined && { pause }) };
  const call = { params: { ...ref, id, mode }, query, body };
  if (mode === "stream") {
    return followStream(io, server, await executions.resumeMode.stream(call), options);
  }
  const watch = `npx engine execution watch ${id}${serverFlag(options)}`;
  const answer = await whileWaiting(io, executions.resumeMode(call), { seeIt: watch });
  printRecord(io, server, answer.body, options);
}
