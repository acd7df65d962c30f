import { RunMode } from "@engine/contract";
import { type Command, Option } from "commander";
import type { CliIo } from "../cli-io.ts";
import { examples } from "../examples.ts";
import { INPUT_HELP, readBody } from "../input.ts";
import {
  instant,
  priority,
  seconds,
  secondsOrEver,
  wholeNumber,
  workerName,
} from "../option-values.ts";
import { executionView } from "../render/execution-view.ts";
import { callServer, type ServerOptions, serverFlag, serverOptions } from "../server-call.ts";
import { refArgument, type WorkflowRef } from "../workflow-ref.ts";
import { printRecord } from "./run-answer.ts";
import { followStream } from "./run-stream.ts";
import { whileWaiting } from "./while-waiting.ts";

interface WaitOptions extends ServerOptions {
  readonly mode: RunMode;
  readonly timeout?: number;
  readonly detailed?: boolean;
}

interface RunOptions extends WaitOptions {
  readonly version?: number;
  readonly name?: string;
  readonly idempotencyKey?: string;
  readonly priority?: number;
  readonly startAt?: string;
  readonly parkTtl?: number;
  readonly preferWorker?: string;
  readonly requireWorker?: string;
}

interface ResumeOptions extends WaitOptions {
  readonly pause?: string;
}

export function addRun(workflow: Command, io: CliIo): void {
  const command = workflow
    .command("run")
    .summary("Starts a workflow on the server.")
    .description(
      "Starts a workflow on the server: answers at once (async), waits for the end (sync), or prints each frame as it arrives (stream).",
    )
    .addArgument(refArgument())
    .argument("[input]", INPUT_HELP)
    .addOption(modeOption("async"))
    .option("--version <n>", "version to run (default: the latest)", wholeNumber(1))
    .option("--name <label>", "label for people, shown in lists")
    .option(
      "--idempotency-key <key>",
      "of all starts with the same key one creates; the others are answered for that execution",
    )
    .option("--priority <n>", "from -10 to 10: a higher one starts first", priority)
    .option("--start-at <instant>", "no worker gets it before: ISO 8601, UTC by default", instant)
    .option(
      "--park-ttl <seconds>",
      "longest wait for a worker, then it fails; 0 = for ever",
      secondsOrEver,
    )
    .option("--prefer-worker <name>", "the worker that is asked first", workerName)
    .option("--require-worker <name>", "the only worker that may run it", workerName);
  waitOptions(command).action((ref: WorkflowRef, input: string | undefined, options: RunOptions) =>
    run(io, ref, input, options),
  );
  examples(command, [
    `workflow run hello_world '"World"' --mode sync`,
    "workflow run shop/checkout @order.json --name order-17",
    "workflow run sales_report --mode stream",
    "workflow run sales_report --start-at 2026-12-24T02:00:00Z --priority -5",
    "workflow run shop/checkout @order.json --idempotency-key order-17 --mode sync",
  ]);
}

export function addResume(workflow: Command, io: CliIo): void {
  const command = workflow
    .command("resume")
    .summary("Answers an open pause.")
    .description("Answers the open pause of an execution; INPUT is what its `pause` call returns.")
    .addArgument(refArgument())
    .argument("<id>", "execution id")
    .argument("[input]", INPUT_HELP)
    .option("--pause <name>", "which pause, when several are open")
    .addOption(modeOption("sync"));
  waitOptions(command).action(
    (ref: WorkflowRef, id: string, input: string | undefined, options: ResumeOptions) =>
      resume(io, { ref, id, input, options }),
  );
  examples(command, [`workflow resume expense 0198c2f4-5b7a-7c31-9d7e-3f1b8a6c2d10 '{"ok":true}'`]);
}

export function addStatus(workflow: Command, io: CliIo): void {
  const command = workflow
    .command("status")
    .summary("Shows one execution of a workflow.")
    .description("Shows one execution of a workflow: its state, output or error.")
    .addArgument(refArgument())
    .argument("<id>", "execution id");
  serverOptions(command).action((ref: WorkflowRef, id: string, options: ServerOptions) =>
    callServer(io, options, async ({ client, print, paint }) => {
      const record = await client.executions.status({ params: { ...ref, id } });
      print(record, () => executionView(record, paint, io.now()));
    }),
  );
  examples(command, ["workflow status hello_world 0198c2f4-5b7a-7c31-9d7e-3f1b8a6c2d10"]);
}

function modeOption(initial: RunMode): Option {
  return new Option("--mode <mode>", "how to wait").choices(RunMode.options).default(initial);
}

function waitOptions(command: Command): Command {
  command
    .option("--timeout <seconds>", "longest wait of --mode sync", seconds)
    .option("--detailed", "add the log to the answer");
  return serverOptions(command);
}

function waitQuery({ timeout, detailed }: WaitOptions) {
  return {
    ...(timeout !== undefined && { timeout }),
    ...(detailed && { detailed: "true" as const }),
  };
}

async function run(
  io: CliIo,
  ref: WorkflowRef,
  input: string | undefined,
  options: RunOptions,
): Promise<void> {
  const body = await readBody(input, io);
  const { mode } = options;
  await callServer(io, options, async (server) => {
    const { executions } = server.client;
    const call = { params: { ...ref, mode }, ...startParts(options), body };
    if (mode === "stream") {
      return followStream(io, server, await executions.run.stream(call), options);
    }
    const list = `npx engine execution list${serverFlag(options)}`;
    const answer = await whileWaiting(io, executions.run(call), { seeIt: list });
    printRecord(io, server, answer.body, options);
  });
}

function startParts(options: RunOptions) {
  const { version, name, idempotencyKey, startAt, parkTtl, preferWorker, requireWorker } = options;
  return {
    query: {
      ...waitQuery(options),
      version,
      name,
      priority: options.priority,
      start_at: startAt,
      park_ttl: parkTtl,
    },
    headers: {
      "idempotency-key": idempotencyKey,
      "x-engine-preferred-worker": preferWorker,
      "x-engine-require-worker": requireWorker,
    },
  };
}

interface Resume {
  readonly ref: WorkflowRef;
  readonly id: string;
  readonly input: string | undefined;
  readonly options: ResumeOptions;
}

async function resume(io: CliIo, { ref, id, input, options }: Resume): Promise<void> {
  const body = await readBody(input, io);
  const { mode, pause } = options;
  const query = { ...waitQuery(options), ...(pause !== undefined && { pause }) };
  await callServer(io, options, async (server) => {
    const { executions } = server.client;
    const call = { params: { ...ref, id, mode }, query, body };
    if (mode === "stream") {
      return followStream(io, server, await executions.resumeMode.stream(call), options);
    }
    const watch = `npx engine execution watch ${id}${serverFlag(options)}`;
    const answer = await whileWaiting(io, executions.resumeMode(call), { seeIt: watch });
    printRecord(io, server, answer.body, options);
  });
}
