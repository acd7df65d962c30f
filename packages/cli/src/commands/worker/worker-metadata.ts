/** `engine worker metadata …`: what operators say of a worker, for matching and ranking (WMD-1). */
import type { WorkerMetadata } from "@engine/contract";
import type { Command } from "commander";
import { metadataPairs } from "../../arguments/metadata-pairs.ts";
import { examples } from "../../examples.ts";
import type { CliIo } from "../../io/cli-io.ts";
import { metadataView } from "../../render/metadata-text.ts";
import type { ServerCall } from "../../server-call.ts";
import { onFleet } from "./on-fleet.ts";

interface SetOptions {
  readonly string?: boolean;
  readonly replace?: boolean;
}

export function addMetadata(worker: Command, io: CliIo): void {
  const metadata = worker
    .command("metadata")
    .description(
      "Shows and changes what operators say of workers: text and numbers by key, for affinity and routing. No worker can write it; it stays when the worker is started again.",
    )
    .summary("Shows and changes the metadata of workers, for affinity and routing.");
  addSet(metadata, io);
  addShow(metadata, io);
  addUnset(metadata, io);
  addClear(metadata, io);
}

function addSet(metadata: Command, io: CliIo): void {
  const command = named(metadata.command("set"))
    .summary("Sets metadata of a worker, beside what it has.")
    .description(
      "Sets metadata of a worker, beside what it has. A value that is a decimal number such as 0.25 becomes a number, all else is text.",
    )
    .argument("<pairs...>", "what to set, as KEY=VALUE")
    .option("--string", "keep numbers as text, too")
    .option("--replace", "in place of all that it has");
  onFleet(io, command, async (server, name: string, pairs: string[], options: SetOptions) => {
    const set = metadataPairs(pairs, { asText: options.string === true });
    const body = { metadata: set, replace: options.replace === true };
    const written = await server.client.workerAttributes.putMetadata({ params: { name }, body });
    show(server, name, written);
  });
  examples(command, [
    "worker metadata set gpu-1 tier=gold cost=0.25",
    "worker metadata set gpu-1 rack=007 --string",
    "worker metadata set gpu-1 tier=silver --replace",
  ]);
}

function addShow(metadata: Command, io: CliIo): void {
  const command = named(metadata.command("show")).description("Shows the metadata of a worker.");
  onFleet(io, command, async (server, name: string) =>
    show(server, name, await read(server, name)),
  );
  examples(command, ["worker metadata show gpu-1", "worker metadata show gpu-1 --format json"]);
}

function addUnset(metadata: Command, io: CliIo): void {
  const command = named(metadata.command("unset"))
    .description("Removes keys of a worker's metadata; those that it does not have are none.")
    .argument("<keys...>", "keys to remove");
  onFleet(io, command, async (server, name: string, keys: string[]) => {
    for (const key of keys) {
      await server.client.workerAttributes.removeMetadata({ params: { name, key } });
    }
    show(server, name, await read(server, name));
  });
  examples(command, ["worker metadata unset gpu-1 cost", "worker metadata unset gpu-1 tier rack"]);
}

function addClear(metadata: Command, io: CliIo): void {
  const command = named(metadata.command("clear")).description("Removes all metadata of a worker.");
  onFleet(io, command, async (server, name: string) => {
    await server.client.workerAttributes.clearMetadata({ params: { name } });
    show(server, name, { metadata: {} });
  });
  examples(command, ["worker metadata clear gpu-1"]);
}

function named(command: Command): Command {
  return command.argument("<name>", "name of the worker");
}

function read({ client }: ServerCall, name: string): Promise<WorkerMetadata> {
  return client.workerAttributes.getMetadata({ params: { name } });
}

function show({ print }: ServerCall, name: string, answer: WorkerMetadata): void {
  print(answer, ({ metadata }, screen) => metadataView(name, metadata, screen));
}
