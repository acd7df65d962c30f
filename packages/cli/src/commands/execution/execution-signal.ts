import { isName, NAME_RULE } from "@engine/contract";
import type { Command } from "commander";
import { actOnExecution, executionArgument } from "../../arguments/execution-argument.ts";
import { INPUT_HELP, readBody } from "../../arguments/input.ts";
import { examples } from "../../examples.ts";
import { UsageError } from "../../io/cli-error.ts";
import type { CliIo } from "../../io/cli-io.ts";

export function addSignal(execution: Command, io: CliIo): void {
  const command = executionArgument(execution.command("signal"))
    .summary("Sends a signal to an execution.")
    .description(
      "Sends a signal to an execution; INPUT is what its next `signal` call of that name returns. It is kept until the execution asks for it.",
    )
    .argument("[name]", "name of the signal")
    .argument("[input]", INPUT_HELP);
  actOnExecution(io, command, async (call, [name, input]) => {
    if (name === undefined) {
      throw new UsageError("missing required argument 'name': the name of the signal");
    }
    if (!isName(name)) {
      throw new UsageError(
        `argument 'name' is invalid: '${name}'. Expected the name of a signal: ${NAME_RULE}`,
      );
    }
    const body = await readBody(input, io);
    await call(async ({ client, print }, id) => {
      const sent = await client.executions.signal({ params: { id, name }, body });
      print(
        sent,
        () => `Sent ${sent.name} to ${sent.execution_id}, event ${sent.seq} of its log\n`,
      );
    });
  });
  examples(command, [
    `execution signal 0198c2f4-5b7a-7c31-9d7e-3f1b8a6c2d10 address_changed '{"zip":"10115"}'`,
    "execution signal --last --workflow shop/checkout cancelled_by_customer",
  ]);
}
