import { type Command, Option } from "commander";
import {
  actOnExecution,
  type ExecutionOptions,
  executionArgument,
} from "../../arguments/execution-argument.ts";
import { INPUT_HELP, readBody } from "../../arguments/input.ts";
import { wholeNumber } from "../../arguments/option-values.ts";
import { ROUTING_OPTION, routingHeaders, routingInput } from "../../arguments/routing-input.ts";
import { examples } from "../../examples.ts";
import type { CliIo } from "../../io/cli-io.ts";
import { printRecord } from "../run-answer.ts";

/** A restart is a fork without a cut. */
interface ForkOptions extends ExecutionOptions {
  readonly fromSeq?: number;
  readonly fromCall?: string;
  readonly input?: string;
  readonly version?: number;
  readonly name?: string;
  readonly routingInput?: Readonly<Record<string, string>>;
}

export function addFork(execution: Command, io: CliIo): void {
  const command = execution
    .command("fork")
    .summary("Starts a copy that goes on from a point of the log.")
    .description(
      "Starts a copy of an execution. What is recorded before the cut is not run again; without a cut it starts anew. The execution itself, in any state, stays as it is.",
    )
    .addOption(
      new Option("--from-seq <n>", "keep the log up to this event")
        .argParser(wholeNumber(1))
        .conflicts("fromCall"),
    )
    .option("--from-call <call>", "keep the log before the start of this call, such as charge~1");
  onFork(io, command);
  examples(command, [
    "execution fork 0198c2f4-5b7a-7c31-9d7e-3f1b8a6c2d10 --from-call charge~1",
    "execution fork 0198c2f4-5b7a-7c31-9d7e-3f1b8a6c2d10 --from-seq 12 --version 4",
    `execution fork 0198c2f4-5b7a-7c31-9d7e-3f1b8a6c2d10 --input '{"cents":900}' --name "again, cheaper"`,
  ]);
}

export function addRestart(execution: Command, io: CliIo): void {
  const command = execution
    .command("restart")
    .summary("Runs an execution again from its start.")
    .description(
      "Starts a new execution of the same workflow, with the same input unless another is given. The old one stays as it is.",
    );
  onFork(io, command);
  examples(command, [
    "execution restart 0198c2f4-5b7a-7c31-9d7e-3f1b8a6c2d10",
    "execution restart --last",
    "execution restart 0198c2f4-5b7a-7c31-9d7e-3f1b8a6c2d10 --input @order.json --version 4",
  ]);
}

function onFork(io: CliIo, command: Command): void {
  executionArgument(command)
    .option("--input <input>", `another input: ${INPUT_HELP.replace(" (default: null)", "")}`)
    .option("--version <n>", "version to run (default: that of the execution)", wholeNumber(1))
    .option("--name <label>", "label for people, shown in lists")
    .option(
      ROUTING_OPTION[0],
      `${ROUTING_OPTION[1]} (default: what the execution had)`,
      routingInput,
    );
  actOnExecution(io, command, async (call, _, options: ForkOptions) => {
    const headers = routingHeaders(options.routingInput);
    const { fromSeq: from_seq, fromCall: from_call, input, version, name } = options;
    const body = {
      ...(from_seq !== undefined && { from_seq }),
      ...(from_call !== undefined && { from_call }),
      ...(input !== undefined && { input: await readBody(input, io) }),
      ...(version !== undefined && { version }),
      ...(name !== undefined && { name }),
    };
    await call(async (server, id) => {
      const record = await server.client.executions.fork({ params: { id }, headers, body });
      printRecord(io, server, record, options);
    });
  });
}
