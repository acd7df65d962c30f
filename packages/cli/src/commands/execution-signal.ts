import type { Command } from "commander";
import type { CliIo } from "../cli-io.ts";
import { examples } from "../examples.ts";
import { INPUT_HELP, readBody } from "../input.ts";
import { callServer, type ServerOptions, serverOptions } from "../server-call.ts";

export function addSignal(execution: Command, io: CliIo): void {
  const command = execution
    .command("signal")
    .summary("Sends a signal to an execution.")
    .description(
      "Sends a signal to an execution; INPUT is what its next `signal` call of that name returns. It is kept until the execution asks for it.",
    )
    .argument("<id>", "execution id")
    .argument("<name>", "name of the signal")
    .argument("[input]", INPUT_HELP);
  serverOptions(command).action(
    (id: string, name: string, input: string | undefined, options: ServerOptions) =>
      signal(io, { id, name, input, options }),
  );
  examples(command, [
    `execution signal 0198c2f4-5b7a-7c31-9d7e-3f1b8a6c2d10 address_changed '{"zip":"10115"}'`,
  ]);
}

interface Signal {
  readonly id: string;
  readonly name: string;
  readonly input: string | undefined;
  readonly options: ServerOptions;
}

async function signal(io: CliIo, { id, name, input, options }: Signal): Promise<void> {
  const body = await readBody(input, io);
  await callServer(io, options, async ({ client, print }) => {
    const sent = await client.executions.signal({ params: { id, name }, body });
    print(sent, () => `Sent ${sent.name} to ${sent.execution_id}, event ${sent.seq} of its log\n`);
  });
}
