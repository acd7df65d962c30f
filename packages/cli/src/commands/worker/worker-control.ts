/** The commands that act on one worker by its name: pause, resume, delete. */
import type { WorkerRecord } from "@engine/contract";
import type { Command } from "commander";
import { confirmLoss } from "../../confirm-loss.ts";
import { examples } from "../../examples.ts";
import type { CliIo } from "../../io/cli-io.ts";
import { workerBrief } from "../../render/worker-view.ts";
import { type ServerCall, type ServerOptions, serverOptions } from "../../server-call.ts";
import { callFleet } from "./call-fleet.ts";

export function addPause(worker: Command, io: CliIo): void {
  const command = named(
    worker
      .command("pause")
      .summary("Gives a worker no more work.")
      .description(
        "Gives a worker no more work until it is resumed, also after it was started again. What it runs goes on.",
      ),
  );
  command.action((name: string, options: ServerOptions) =>
    control(io, { ...options, worker: name }, (client) => client.fleet.pause({ params: { name } })),
  );
  examples(command, ["worker pause gpu-1"]);
}

export function addResume(worker: Command, io: CliIo): void {
  const command = named(worker.command("resume").description("Gives a paused worker work again."));
  command.action((name: string, options: ServerOptions) =>
    control(io, { ...options, worker: name }, (client) =>
      client.fleet.resume({ params: { name } }),
    ),
  );
  examples(command, ["worker resume gpu-1"]);
}

export function addDelete(worker: Command, io: CliIo): void {
  const command = named(
    worker
      .command("delete")
      .summary("Forgets a worker that is not connected.")
      .description(
        "Forgets the name of a worker that is not connected, with all that was set for it. A worker that registers with this name again is a new one.",
      )
      .option("--yes", "do not ask"),
  );
  command.action((name: string, options: ServerOptions & { yes?: boolean }) =>
    callFleet(io, { ...options, worker: name }, async ({ client, print }) => {
      await client.fleet.show({ params: { name } });
      const what = `This forgets worker ${name} and all that was set for it.`;
      if (!options.yes) await confirmLoss(io, { what, question: "Forget it?" });
      await client.fleet.delete({ params: { name } });
      print({ name }, () => `Forgot worker ${name}.\n`);
    }),
  );
  examples(command, ["worker delete gpu-1", "worker delete gpu-1 --yes"]);
}

function named(command: Command): Command {
  return serverOptions(command.argument("<name>", "name of the worker"));
}

async function control(
  io: CliIo,
  options: ServerOptions & { worker: string },
  call: (client: ServerCall["client"]) => Promise<WorkerRecord>,
): Promise<void> {
  await callFleet(io, options, async ({ client, print, paint }) => {
    const record = await call(client);
    print(record, () => workerBrief(record, paint));
  });
}
