import type { Command } from "commander";
import { INPUT_HELP, readInput } from "../../arguments/input.ts";
import { wholeNumber } from "../../arguments/option-values.ts";
import { refArgument, type WorkflowRef } from "../../arguments/workflow-ref.ts";
import { examples } from "../../examples.ts";
import type { CliIo } from "../../io/cli-io.ts";
import { placementView } from "../../render/placement-view.ts";
import { onServer } from "../../server-call.ts";

interface PlacementOptions {
  readonly version?: number;
}

export function addPlacement(workflow: Command, io: CliIo): void {
  const command = workflow
    .command("placement")
    .summary("Says which workers a start would be given.")
    .description(
      "Says which workers a start with this input could be given now, how the workflow's routing policy ranks them, and what each of the others lacks. Nothing is started.",
    )
    .addArgument(refArgument())
    .argument(
      "[input]",
      `${INPUT_HELP.replace(" (default: null)", "")}; left out, it is not checked`,
    )
    .option("--version <n>", "version to ask about (default: the latest)", wholeNumber(1));
  onServer(
    io,
    command,
    async (
      { client, print },
      ref: WorkflowRef,
      text: string | undefined,
      { version }: PlacementOptions,
    ) => {
      const input = (await readInput(text, io)) as never;
      const body = {
        ...(text !== undefined && { input }),
        ...(version !== undefined && { version }),
      };
      print(await client.catalog.placement({ params: { ...ref }, body }), placementView);
    },
  );
  examples(command, [
    `workflow placement shop/checkout '{"region":"eu"}'`,
    "workflow placement shop/checkout @order.json --version 3 --format json",
  ]);
}
