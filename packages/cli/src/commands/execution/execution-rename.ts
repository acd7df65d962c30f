import { type Command, Option } from "commander";
import {
  actOnExecution,
  type ExecutionOptions,
  executionArgument,
} from "../../arguments/execution-argument.ts";
import { examples } from "../../examples.ts";
import { UsageError } from "../../io/cli-error.ts";
import type { CliIo } from "../../io/cli-io.ts";
import { executionView } from "../../render/execution-view.ts";

interface RenameOptions extends ExecutionOptions {
  readonly clear?: boolean;
}

export function addRename(execution: Command, io: CliIo): void {
  const command = executionArgument(execution.command("rename"))
    .summary("Gives an execution another label.")
    .description(
      "Gives an execution a label for people, whatever its state; lists show it and find it by its beginning.",
    )
    .argument("[name]", "the label: 1 to 200 characters")
    .addOption(new Option("--clear", "take its label away"));
  actOnExecution(io, command, async (call, [name = null], { clear }: RenameOptions) => {
    if ((name === null) === !clear) {
      throw new UsageError("say how to call it: a name, or --clear to take its label away");
    }
    await call(async ({ client, print }, id) =>
      print(await client.executions.rename({ params: { id }, body: { name } }), executionView),
    );
  });
  examples(command, [
    `execution rename 0198c2f4-5b7a-7c31-9d7e-3f1b8a6c2d10 "order 17, second try"`,
    "execution rename 0198c2f4-5b7a-7c31-9d7e-3f1b8a6c2d10 --clear",
  ]);
}
