import { encode, toPlain } from "@engine/contract";
import type { RunResult } from "@engine/sdk";
import type { Command } from "commander";
import { INPUT_HELP, readInput } from "../arguments/input.ts";
import { examples } from "../examples.ts";
import { Reported, reportError } from "../io/cli-error.ts";
import type { CliIo } from "../io/cli-io.ts";
import { failureLines } from "../render/failure-text.ts";
import { oneLine } from "../render/harmless.ts";
import { shellQuote } from "../render/value-text.ts";
import { withUnawaitedRejections } from "../workflow-file/unawaited-rejections.ts";

interface ExecOptions {
  readonly executionId?: string;
  readonly pause?: string;
  readonly inspect?: boolean;
}

export function addExec(program: Command, io: CliIo): void {
  const command = program
    .command("exec")
    .summary("Runs a workflow in this process, without a server.")
    .description(
      "Runs a workflow of a TypeScript file in this process, on the configured database, without a server. " +
        "Prints its output as JSON. A paused run continues with --execution-id.",
    )
    .argument("<workflow_file>", "TypeScript file that exports the workflow")
    .argument("<workflow_name>", "NAME or NAMESPACE/NAME")
    .argument("[input]", INPUT_HELP)
    .option("--execution-id <id>", "continue this execution; INPUT answers its open pause")
    .option("--pause <name>", "which open pause INPUT answers, when there are several")
    .option("--inspect", "print everything about the run, its log included")
    .action(async (file: string, name: string, input: string | undefined, options: ExecOptions) => {
      const value = await readInput(input, io);
      // The engine's own parts are loaded here, so that `engine --help` is quick.
      const { loadWorkflow } = await import("../workflow-file/load-workflow.ts");
      const { run } = await import("@engine/local");
      const workflow = await loadWorkflow(file, name, io);
      const { executionId, pause } = options;
      const interrupted = io.stopSignals().first;
      let started: string | undefined;
      const onStarted = (id: string) => {
        started = id;
      };
      const tell = (reason: string) =>
        io.err.write(
          `warning: a promise was rejected while nobody awaited it: ${oneLine(reason)}\n`,
        );
      const result = await withUnawaitedRejections(tell, () => {
        const running = run(workflow, value, { executionId, pause, onStarted });
        return Promise.race([running, interrupted.then(() => undefined)]);
      });
      if (!result) {
        io.err.write(interruptedHint(started, file, name));
        throw new Reported();
      }

      if (options.inspect) print(io, inspected(result));
      else if (result.succeeded) print(io, result.output);
      if (result.paused) io.err.write(resumeHint(result, file, name));
      else if (!result.finished) io.err.write(waitingHint(result, file, name));
      if (result.finished && !result.succeeded) {
        reportError(io, failureReport(result));
        throw new Reported();
      }
    });
  examples(command, [
    `exec hello.ts hello_world '"World"'`,
    "exec orders.ts shop/checkout @order.json --inspect",
    `exec expense.ts expense '{"ok":true}' --execution-id 0198c2f4-5b7a-7c31-9d7e-3f1b8a6c2d10`,
  ]);
}

function print(io: CliIo, value: unknown): void {
  io.out.write(`${JSON.stringify(toPlain(encode(value, "output")), null, 2)}\n`);
}

/** Everything, with event values as plain JSON: the log keeps them encoded. */
function inspected(result: RunResult): Record<string, unknown> {
  const events = result.events.map((event) => ({ ...event, value: toPlain(event.value) }));
  return { ...result.toJSON(), events };
}

/** What is recorded stays: a user who stops a run is told how to go on with it. */
function interruptedHint(executionId: string | undefined, file: string, name: string): string {
  if (executionId === undefined) return "interrupted before anything was recorded\n";
  return `interrupted; execution ${executionId} keeps what it has recorded\ncontinue it with: ${command(file, name)} --execution-id ${executionId}\n`;
}

function command(file: string, name: string): string {
  return `npx engine exec ${shellQuote(file)} ${shellQuote(name)}`;
}

function resumeHint(result: RunResult, file: string, name: string): string {
  const pauses = result.waiting.filter(({ kind }) => kind === "pause");
  const [first, ...others] = pauses;
  const go = `--execution-id ${result.executionId}`;
  const which = others.length ? ` --pause ${shellQuote(first?.name ?? "")}` : "";
  const names = pauses.map((pause) => `"${pause.name}"`).join(", ");
  const hint = `paused at ${names}, execution ${result.executionId}\nresume it with: ${command(file, name)} '<JSON>' ${go}${which}\n`;
  const until = first?.until;
  if (!until) return hint;
  return `${hint}or, after ${until}, continue it without an answer: ${command(file, name)} ${go}${which}\n`;
}

/** It rests on a child that has paused: that is the one to answer first. */
function waitingHint(result: RunResult, file: string, name: string): string {
  const go = (ref: string, id: string) => `${command(file, ref)} --execution-id ${id}`;
  const children = result.waiting.filter(({ kind }) => kind === "child");
  const lines = children.flatMap(({ name: ref, execution_id }) =>
    execution_id === null ? [] : [`answer child ${ref} with: ${go(ref, execution_id)} '<JSON>'`],
  );
  const waits = result.waiting.map(({ kind, name: of }) => `${kind} ${of}`).join(", ");
  return [
    `${result.name} is ${result.state.toLowerCase()} and waits for ${waits || "another process"}, execution ${result.executionId}`,
    ...lines,
    `then continue it with: ${go(name, result.executionId)}\n`,
  ].join("\n");
}

function failureReport(result: RunResult): string {
  const what = `${result.name} ${result.cancelled ? "was cancelled" : "failed"}, execution ${result.executionId}`;
  if (!result.failure) return what;
  return [what, ...failureLines(result.failure)].join("\n  ");
}
