/** `engine worker service …`: which local services workers may use (WMD-3). */
import type { Command } from "commander";
import { examples } from "../../examples.ts";
import type { CliIo } from "../../io/cli-io.ts";
import { servicesView } from "../../render/metadata-text.ts";
import type { ServerCall } from "../../server-call.ts";
import { onFleet } from "./on-fleet.ts";

export function addWorkerService(worker: Command, io: CliIo): void {
  const service = worker
    .command("service")
    .description(
      "Shows, grants and takes back local services: sockets that a worker offers to task code. One that it offers and was granted is a label of it, engine.service.NAME=true.",
    )
    .summary("Shows, grants and takes back local services of workers.");
  addGrant(service, io);
  addRevoke(service, io);
  addList(service, io);
}

function addGrant(service: Command, io: CliIo): void {
  const command = named(service.command("grant"))
    .description("Grants a worker a service, which it offers or will offer.")
    .argument("<service>", "name of the service");
  onFleet(io, command, async (server, name: string, granted: string) => {
    const params = { name, service: granted };
    await server.client.workerAttributes.grantService({ params });
    await list(server, name);
  });
  examples(command, ["worker service grant gpu-1 inference"]);
}

function addRevoke(service: Command, io: CliIo): void {
  const command = named(service.command("revoke"))
    .description("Takes a service back from a worker. What runs there goes on.")
    .argument("<service>", "name of the service");
  onFleet(io, command, async (server, name: string, revoked: string) => {
    const params = { name, service: revoked };
    await server.client.workerAttributes.revokeService({ params });
    await list(server, name);
  });
  examples(command, ["worker service revoke gpu-1 inference"]);
}

function addList(service: Command, io: CliIo): void {
  const command = named(service.command("list")).description(
    "Lists the services that a worker offers, and those that it was granted.",
  );
  onFleet(io, command, (server, name: string) => list(server, name));
  examples(command, ["worker service list gpu-1", "worker service list gpu-1 --format json"]);
}

function named(command: Command): Command {
  return command.argument("<name>", "name of the worker");
}

async function list({ client, print }: ServerCall, name: string): Promise<void> {
  const services = await client.workerAttributes.listServices({ params: { name } });
  print(services, (_, screen) => servicesView(name, services, screen));
}
