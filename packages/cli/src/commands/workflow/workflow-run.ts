import type { Command } from "commander";
import { executionOfArgument } from "../../arguments/execution-argument.ts";
import { INPUT_HELP, readBody } from "../../arguments/input.ts";
import {
  instant,
  priority,
  secondsOrEver,
  wholeNumber,
  workerName,
} from "../../arguments/option-values.ts";
import { actOnExecutionOf } from "../../arguments/other-workflow.ts";
import { ROUTING_OPTION, routingHeaders, routingInput } from "../../arguments/routing-input.ts";
import { refArgument, type WorkflowRef } from "../../arguments/workflow-ref.ts";
import { examples } from "../../examples.ts";
import type { CliIo } from "../../io/cli-io.ts";
import { executionView } from "../../render/execution-view.ts";
import { callServer, serverFlag, serverOptions } from "../../server-call.ts";
import { printRecord } from "../run-answer.ts";
import { followStream } from "../run-stream.ts";
import { modeOption, type WaitOptions, waitOptions, waitQuery } from "../wait-options.ts";
import { whileWaiting } from "../while-waiting.ts";

interface RunOptions extends WaitOptions {
  readonly version?: number;
  readonly name?: string;
  readonly idempotencyKey?: string;
  readonly priority?: number;
  readonly startAt?: string;
  readonly parkTtl?: number;
  readonly preferWorker?: string;
  readonly requireWorker?: string;
  readonly routingInput?: Readonly<Record<string, string>>;
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
    .option("--require-worker <name>", "the only worker that may run it", workerName)
    .option(...ROUTING_OPTION, routingInput);
  serverOptions(waitOptions(command)).action(
    async (ref: WorkflowRef, input: string | undefined, options: RunOptions) => {
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
    },
  );
  examples(command, [
    `workflow run hello_world '"World"' --mode sync`,
    "workflow run shop/checkout @order.json --name order-17",
    "workflow run sales_report --mode stream",
    "workflow run sales_report --start-at 2026-12-24T02:00:00Z --priority -5",
    "workflow run shop/checkout @order.json --idempotency-key order-17 --mode sync",
    "workflow run shop/report -r dataset=berlin -r tier=gold",
  ]);
}

export function addStatus(workflow: Command, io: CliIo): void {
  const command = workflow
    .command("status")
    .summary("Shows one execution of a workflow.")
    .description("Shows one execution of a workflow: its state, output or error.")
    .addArgument(refArgument());
  executionOfArgument(command);
  actOnExecutionOf(io, command, "show", (call, [ref]) =>
    call(async ({ client, print }, id) =>
      print(await client.executions.status({ params: { ...ref, id } }), executionView),
    ),
  );
  examples(command, [
    "workflow status hello_world 0198c2f4-5b7a-7c31-9d7e-3f1b8a6c2d10",
    "workflow status hello_world --last",
  ]);
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
      ...routingHeaders(options.routingInput),
    },
  };
}
