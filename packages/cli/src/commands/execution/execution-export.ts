import type { Command } from "commander";
import { type ExecutionOptions, onExecution } from "../../arguments/execution-argument.ts";
import { examples } from "../../examples.ts";
import type { CliIo } from "../../io/cli-io.ts";
import { writeOutFile } from "../../io/text-file.ts";

interface ExportOptions extends ExecutionOptions {
  readonly out: string;
}

export function addExport(execution: Command, io: CliIo): void {
  const command = execution
    .command("export")
    .summary("Prints the history of an execution as JSON.")
    .description(
      "Prints an execution with its typed log as JSON: what `workflow replay --history` and tests read. It holds inputs and outputs: keep it as you keep those.",
    )
    .option("--out <file>", "file to write; - prints it", "-");
  onExecution(io, command, async ({ client, print }, id, { out }: ExportOptions) => {
    const history = await client.executions.history({ params: { id } });
    const text = `${JSON.stringify(history, null, 2)}\n`;
    if (out === "-") {
      io.out.write(text);
      return;
    }
    writeOutFile(io, out, text);
    const events = history.events.length;
    print({ file: out, execution_id: id, events }, () => `Wrote ${events} events to ${out}\n`);
  });
  examples(command, [
    "execution export 0198c2f4-5b7a-7c31-9d7e-3f1b8a6c2d10 --out order-17.json",
    "execution export 0198c2f4-5b7a-7c31-9d7e-3f1b8a6c2d10 | gzip > order-17.json.gz",
  ]);
}
