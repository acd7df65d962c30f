import type { Command } from "commander";
import { allPages } from "../../all-pages.ts";
import { examples } from "../../examples.ts";
import type { CliIo } from "../../io/cli-io.ts";
import { writeOutFile } from "../../io/text-file.ts";
import { counted } from "../../render/counted.ts";
import { workflowTypes } from "../../render/workflow-types.ts";
import { onServer } from "../../server-call.ts";

interface TypesOptions {
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
  onServer(io, command, async ({ client, print }, { namespace, out }: TypesOptions) => {
    const { items: records } = await allPages({ offset: 0 }, (place) =>
      client.catalog.list({ query: { ...place, ...(namespace && { namespace }) } }),
    );
    const declarations = workflowTypes(records);
    const workflows = records.map(({ namespace, name }) => `${namespace}/${name}`);
    if (out === "-") {
      print({ file: null, workflows, declarations }, () => declarations);
      return;
    }
    writeOutFile(io, out, declarations);
    print({ file: out, workflows }, () => `Wrote ${counted(records, "workflow")} to ${out}\n`);
  });
  examples(command, ["workflow types --out workflows.d.ts", "workflow types -n shop --out -"]);
}
