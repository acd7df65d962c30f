import type { WorkflowRecord } from "@engine/contract";
import type { Command } from "commander";
import { examples } from "../../examples.ts";
import type { CliIo } from "../../io/cli-io.ts";
import { writeOutFile } from "../../io/out-file.ts";
import { workflowTypes } from "../../render/workflow-types.ts";
import {
  callServer,
  type ServerCall,
  type ServerOptions,
  serverOptions,
} from "../../server-call.ts";

interface TypesOptions extends ServerOptions {
  readonly namespace?: string;
  readonly out: string;
}

export function addTypes(workflow: Command, io: CliIo): void {
  const command = workflow
    .command("types")
    .summary("Writes TypeScript declarations of the catalog.")
    .description(
      'Writes TypeScript declarations of the workflows in the catalog, for client.workflow<Workflows["shop/checkout"]>("shop/checkout"). What the catalog does not know is `unknown`.',
    )
    .option("-n, --namespace <ns>", "only this namespace")
    .requiredOption("--out <file>", "file to write; - prints it");
  serverOptions(command).action((options: TypesOptions) => writeTypes(io, options));
  examples(command, ["workflow types --out workflows.d.ts", "workflow types -n shop --out -"]);
}

async function writeTypes(io: CliIo, options: TypesOptions): Promise<void> {
  await callServer(io, options, async ({ client, print }) => {
    const records = await allRecords(client, options.namespace);
    const declarations = workflowTypes(records);
    const workflows = records.map(({ namespace, name }) => `${namespace}/${name}`);
    if (options.out === "-") {
      print({ file: null, workflows, declarations }, () => declarations);
      return;
    }
    writeOutFile(io, options.out, declarations);
    const count = records.length === 1 ? "1 workflow" : `${records.length} workflows`;
    print({ file: options.out, workflows }, () => `Wrote ${count} to ${options.out}\n`);
  });
}

async function allRecords(
  client: ServerCall["client"],
  namespace: string | undefined,
): Promise<WorkflowRecord[]> {
  const records: WorkflowRecord[] = [];
  while (true) {
    const query = { limit: 1000, offset: records.length, ...(namespace && { namespace }) };
    const { items } = await client.catalog.list({ query });
    records.push(...items);
    if (items.length < query.limit) return records;
  }
}
