import type { Command } from "commander";
import { INPUT_HELP, readBody } from "../../arguments/input.ts";
import { examples } from "../../examples.ts";
import type { CliIo } from "../../io/cli-io.ts";
import { testedView } from "../../render/hook-view.ts";
import { onServer } from "../../server-call.ts";

interface TestOptions {
  readonly selector?: string;
  readonly value?: string;
}

export function addTest(hook: Command, io: CliIo): void {
  const command = hook
    .command("test")
    .summary("Starts the workflow of a hook once.")
    .description(
      "Starts the workflow of a hook once, enabled or not, as an event of its first selector would. No delivery is kept.",
    )
    .argument("<name>", "name of the hook")
    .option("--selector <selector>", "another of the hook's own")
    .option("--value <json>", `value of the event: ${INPUT_HELP.replace(" (default: null)", "")}`);
  onServer(io, command, async ({ client, print }, name: string, options: TestOptions) => {
    const { selector, value } = options;
    const body = {
      ...(selector !== undefined && { selector }),
      ...(value !== undefined && { value: await readBody(value, io) }),
    };
    print(await client.hooks.test({ params: { name }, body }), testedView);
  });
  examples(command, [
    "hook test page-on-failure",
    `hook test page-on-failure --value '{"message":"card declined"}'`,
  ]);
}
