/** The commands that act on one worker by its name: pause, resume, delete. */
import type { Command } from "commander";
import { confirmLoss } from "../../confirm-loss.ts";
import { examples } from "../../examples.ts";
import type { CliIo } from "../../io/cli-io.ts";
import { workerBrief } from "../../render/worker-view.ts";
import { onFleet } from "./on-fleet.ts";

export function addPause(worker: Command, io: CliIo): void {
  const command = worker
    .command("pause")
    .summary("Gives a worker no more work.")
    .description(
      "Gives a worker no more work until it is resumed, also after it was started again. What it runs goes on.",
    )
    .argument("<name>", "name of the worker");
  onFleet(io, command, async ({ client, print }, name: string) =>
    print(await client.fleet.pause({ params: { name } }), workerBrief),
  );
  examples(command, ["worker pause gpu-1"]);
}

export function addResume(worker: Command, io: CliIo): void {
  const command = worker
    .command("resume")
    .description("Gives a paused worker work again.")
    .argument("<name>", "name of the worker");
  onFleet(io, command, async ({ client, print }, name: string) =>
    print(await client.fleet.resume({ params: { name } }), workerBrief),
  );
  examples(command, ["worker resume gpu-1"]);
}

export function addDelete(worker: Command, io: CliIo): void {
  const command = worker
    .command("delete")
    .summary("Forgets a worker that is not connected.")
    .description(
      "Forgets the name of a worker that is not connected, with all that was set for it. A worker that registers with this name again is a new one.",
    )
    .option("--yes", "do not ask")
    .argument("<name>", "name of the worker");
  onFleet(io, command, async ({ client, print }, name: string, options: { yes?: boolean }) => {
    await client.fleet.show({ params: { name } });
    const what = `This forgets worker ${name} and all that was set for it.`;
    if (!options.yes) await confirmLoss(io, { what, question: "Forget it?" });
    await client.fleet.delete({ params: { name } });
    print({ name }, () => `Forgot worker ${name}.\n`);
  });
  examples(command, ["worker delete gpu-1", "worker delete gpu-1 --yes"]);
}
