import type { Command } from "commander";
import { allPages, type PartOptions, partOptions } from "../../all-pages.ts";
import { examples } from "../../examples.ts";
import type { CliIo } from "../../io/cli-io.ts";
import { nextPage } from "../../render/next-page.ts";
import { resolvedView, serviceList, toolsView } from "../../render/service-view.ts";
import { onServer } from "../../server-call.ts";
import { addStart } from "./service-start.ts";
import { addCreate, addDelete, addExclude, addSelect, addUpdate } from "./service-write.ts";

/** The most services that the server lists at once (SVC-11). */
const PAGE = 500;

/** `engine service …`: workflows that are offered as endpoints (SCLI-1). */
export function addService(program: Command, io: CliIo): void {
  const service = program
    .command("service")
    .description(
      "Shows, makes and changes services: workflows offered under one name, where the body of a request is the input and the body of the answer the output.",
    )
    .summary("Shows, makes and changes services, which offer workflows as endpoints.");
  addCreate(service, io);
  addSelect(service, io, "add");
  addSelect(service, io, "remove");
  addExclude(service, io, "exclude");
  addExclude(service, io, "include");
  addUpdate(service, io);
  addList(service, io);
  addShow(service, io);
  addTools(service, io);
  addDelete(service, io);
  addStart(service, io);
}

function addList(service: Command, io: CliIo): void {
  const command = partOptions(
    service.command("list").description("Lists services by name, with how much they choose."),
  );
  onServer(io, command, async ({ client, print }, options: PartOptions) => {
    const page = await allPages(options, (query) => client.services.list({ query }), PAGE);
    print(page, ({ items, total }, screen) => {
      if (total === 0) return "no services\n";
      if (items.length === 0) return `No more: there are ${total} in all.\n`;
      return serviceList(items, screen) + nextPage(page);
    });
  });
  examples(command, ["service list", "service list --format json"]);
}

function addShow(service: Command, io: CliIo): void {
  const command = service
    .command("show")
    .description(
      "Shows a service: what it chooses, the endpoints that it offers now, names that collide, and entries that match nothing.",
    )
    .argument("<name>", "name of the service");
  onServer(io, command, async ({ client, print }, name: string) => {
    const { body } = await client.services.get({ params: { name } });
    // Without a tag to compare with there is always a body.
    if (body) print(body, resolvedView);
  });
  examples(command, ["service show billing", "service show billing --format json"]);
}

function addTools(service: Command, io: CliIo): void {
  const command = service
    .command("tools")
    .summary("Lists the MCP tools of a service, and where clients connect.")
    .description(
      "Lists the MCP tools that a service offers you, five for each of its endpoints, and the address where clients of the Model Context Protocol connect.",
    )
    .argument("<name>", "name of the service");
  onServer(io, command, async ({ client, print }, name: string) => {
    print(await client.services.tools({ params: { name } }), toolsView);
  });
  examples(command, ["service tools billing", "service tools billing --format json"]);
}
