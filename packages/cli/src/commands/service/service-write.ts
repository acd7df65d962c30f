/** The commands that make, change and delete services. */
import {
  isName,
  NAME_RULE,
  parseWorkflowName,
  SERVICE_NAME_PATTERN,
  SERVICE_NAME_RULE,
  type ServiceChanges,
} from "@engine/contract";
import { type Command, InvalidArgumentError } from "commander";
import { mcpSwitch } from "../../arguments/mcp-switch.ts";
import { confirmLoss } from "../../confirm-loss.ts";
import { examples } from "../../examples.ts";
import { UsageError } from "../../io/cli-error.ts";
import type { CliIo } from "../../io/cli-io.ts";
import { serviceView } from "../../render/service-view.ts";
import { lines } from "../../render/table.ts";
import { onServer, type ServerCall } from "../../server-call.ts";

interface Selectors {
  readonly namespace?: readonly string[];
  readonly workflow?: readonly string[];
}

interface CreateOptions extends Selectors {
  readonly exclude?: readonly string[];
  readonly mcp?: boolean;
  readonly description?: string;
}

export function addCreate(service: Command, io: CliIo): void {
  const command = selectors(
    service
      .command("create")
      .summary("Makes a service.")
      .description(
        "Makes a service of all workflows of some namespaces, of some one by one, without those that are excluded. What it names need not be there yet: workflows appear as soon as they are registered.",
      )
      .argument("<name>", SERVICE_NAME_RULE, serviceName),
  )
    .option("--exclude <ref>", "leaves this workflow out; may be repeated", reference)
    .option("--mcp", "offers its workflows as MCP tools, too")
    .option("--description <text>", "what it is for");
  onServer(io, command, async ({ client, print }, name: string, options: CreateOptions) => {
    const { namespace, workflow, exclude, mcp, description } = options;
    const body = {
      name,
      ...(namespace && { namespaces: [...namespace] }),
      ...(workflow && { workflows: [...workflow] }),
      ...(exclude && { exclusions: [...exclude] }),
      ...(mcp && { mcp_enabled: true }),
      ...(description && { description }),
    };
    print(await client.services.create({ body }), serviceView);
  });
  examples(command, [
    "service create billing --namespace billing",
    "service create shop --workflow shop/order --workflow billing/refund --mcp",
    "service create public --namespace shop --exclude shop/close_books",
  ]);
}

const SELECTS = {
  add: {
    summary: "Adds namespaces and workflows to a service.",
    none: "say what to add, such as --namespace shop or --workflow shop/order",
  },
  remove: {
    summary: "Takes namespaces and workflows out of a service.",
    none: "say what to remove, such as --namespace shop or --workflow shop/order",
  },
} as const;

/** `add` and `remove`, which differ in the word alone. */
export function addSelect(service: Command, io: CliIo, word: "add" | "remove"): void {
  const { summary, none } = SELECTS[word];
  const command = selectors(
    service.command(word).description(summary).argument("<name>", "name of the service"),
  );
  onServer(io, command, async (server, name: string, options: Selectors) => {
    const { namespace, workflow } = options;
    if (!namespace && !workflow) throw new UsageError(none);
    await change(server, name, {
      ...(namespace && { [`${word}_namespaces`]: [...namespace] }),
      ...(workflow && { [`${word}_workflows`]: [...workflow] }),
    });
  });
  examples(command, [
    `service ${word} billing --workflow shop/refund`,
    `service ${word} billing --namespace shop --namespace orders`,
  ]);
}

const EXCLUDES = {
  exclude: { list: "add_exclusions", summary: "Leaves workflows out, whatever chooses them." },
  include: { list: "remove_exclusions", summary: "Offers workflows again that were left out." },
} as const;

export function addExclude(service: Command, io: CliIo, word: "exclude" | "include"): void {
  const { list, summary } = EXCLUDES[word];
  const command = service
    .command(word)
    .description(summary)
    .argument("<name>", "name of the service")
    .argument("<ref...>", "NAME (namespace `default`) or NAMESPACE/NAME", reference);
  onServer(io, command, (server, name: string, refs: readonly string[]) =>
    change(server, name, { [list]: [...refs] }),
  );
  examples(command, [`service ${word} billing billing/refund`]);
}

interface UpdateOptions {
  readonly description?: string;
}

export function addUpdate(service: Command, io: CliIo): void {
  const command = service
    .command("update")
    .description("Changes how a service shows itself: its MCP tools, what it is for.")
    .argument("<name>", "name of the service");
  const mcp = mcpSwitch(command, {
    on: "offers its workflows as MCP tools, too",
    off: "offers no MCP tools",
  });
  command.option("--description <text>", "what it is for; an empty one takes it away");
  onServer(io, command, async (server, name: string, { description }: UpdateOptions) => {
    const given = mcp();
    if (given === undefined && description === undefined) {
      throw new UsageError("say what to change, such as --mcp or --description TEXT");
    }
    await change(server, name, {
      ...(given !== undefined && { mcp_enabled: given }),
      ...(description !== undefined && { description: description || null }),
    });
  });
  examples(command, [
    "service update billing --mcp",
    `service update billing --no-mcp --description "invoices and refunds"`,
  ]);
}

export function addDelete(service: Command, io: CliIo): void {
  const command = service
    .command("delete")
    .description("Deletes a service. Its workflows stay, and its executions go on.")
    .argument("<name>", "name of the service")
    .option("--yes", "do not ask");
  onServer(io, command, async ({ client, print }, name: string, { yes }: { yes?: boolean }) => {
    const what = `This deletes service ${name}: its endpoints answer 404 from then on.`;
    const kept = "Its workflows stay, and its executions go on.";
    if (!yes) await confirmLoss(io, { what, kept, question: "Delete it?" });
    await client.services.delete({ params: { name } });
    print({ name, deleted: true }, () => lines([`Deleted service ${name}.`]));
  });
  examples(command, ["service delete billing", "service delete billing --yes"]);
}

async function change(
  { client, print }: ServerCall,
  name: string,
  body: ServiceChanges,
): Promise<void> {
  print(await client.services.update({ params: { name }, body }), serviceView);
}

function selectors(command: Command): Command {
  return command
    .option("--namespace <ns>", "all workflows of this namespace; may be repeated", namespace)
    .option("--workflow <ref>", "this workflow, as NAMESPACE/NAME; may be repeated", reference);
}

function serviceName(text: string): string {
  if (SERVICE_NAME_PATTERN.test(text)) return text;
  throw new InvalidArgumentError(`Expected ${SERVICE_NAME_RULE}.`);
}

function namespace(text: string, before: readonly string[] = []): string[] {
  if (isName(text)) return [...before, text];
  throw new InvalidArgumentError(`Expected a namespace: ${NAME_RULE}.`);
}

function reference(text: string, before: readonly string[] = []): string[] {
  if (parseWorkflowName(text)) return [...before, text];
  throw new InvalidArgumentError(`Expected NAME or NAMESPACE/NAME, each ${NAME_RULE}.`);
}
