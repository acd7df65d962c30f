import type { Command } from "commander";
import { allPages, type PartOptions, partOptions } from "../../all-pages.ts";
import { wholeNumber } from "../../arguments/option-values.ts";
import { refArgument, type WorkflowRef } from "../../arguments/workflow-ref.ts";
import { examples } from "../../examples.ts";
import type { CliIo } from "../../io/cli-io.ts";
import { nextPage } from "../../render/next-page.ts";
import { table } from "../../render/table.ts";
import { versionTable, workflowTable, workflowView } from "../../render/workflow-view.ts";
import { onServer } from "../../server-call.ts";
import { addCancel } from "../execution/cancel.ts";
import { addResume } from "../execution/resume.ts";
import { addDelete } from "./workflow-delete.ts";
import { addPlacement } from "./workflow-placement.ts";
import { addRegister } from "./workflow-register.ts";
import { addReplay } from "./workflow-replay.ts";
import { addRun, addStatus } from "./workflow-run.ts";
import { addTypes } from "./workflow-types.ts";

interface ListOptions extends PartOptions {
  readonly namespace?: string;
}

interface ShowOptions {
  readonly version?: number;
  readonly source?: boolean;
}

/** `engine workflow …`: the catalog, and runs by workflow. */
export function addWorkflow(program: Command, io: CliIo): void {
  const workflow = program.command("workflow").description("Registers, runs and shows workflows.");
  addRegister(workflow, io);
  addRun(workflow, io);
  addResume(workflow, io);
  addStatus(workflow, io);
  addCancel(workflow, io);
  addReplay(workflow, io);
  addList(workflow, io);
  addNamespaces(workflow, io);
  addShow(workflow, io);
  addVersions(workflow, io);
  addDelete(workflow, io);
  addTypes(workflow, io);
  addPlacement(workflow, io);
}

function addList(workflow: Command, io: CliIo): void {
  const command = workflow
    .command("list")
    .description("Lists the latest version of each workflow.")
    .option("-n, --namespace <ns>", "only this namespace");
  onServer(io, partOptions(command), async ({ client, print }, options: ListOptions) => {
    const { namespace } = options;
    const page = await allPages(options, (place) =>
      client.catalog.list({ query: { ...place, namespace } }),
    );
    const none = namespace === undefined ? "" : ` in namespace ${namespace}`;
    print(page, ({ items, total }, screen) =>
      total === 0
        ? `No workflows${none} yet. Register a file: npx engine workflow register hello.ts\n`
        : workflowTable(items, screen) + nextPage(page),
    );
  });
  examples(command, [
    "workflow list",
    "workflow list -n shop --format json",
    "workflow list --limit 50 --offset 100",
  ]);
}

function addNamespaces(workflow: Command, io: CliIo): void {
  const command = workflow
    .command("namespaces")
    .description("Lists the namespaces that hold a workflow.");
  onServer(io, partOptions(command), async ({ client, print }, options: PartOptions) => {
    const page = await allPages(options, (query) => client.catalog.namespaces({ query }));
    print(page, ({ items, total }, { paint }) => {
      if (total === 0) return "No namespaces yet: a namespace appears with its first workflow.\n";
      const rows = items.map((item) => [item.namespace, String(item.workflow_count)]);
      return table(["NAMESPACE", "WORKFLOWS"], rows, paint) + nextPage(page);
    });
  });
  examples(command, ["workflow namespaces"]);
}

function addShow(workflow: Command, io: CliIo): void {
  const command = workflow
    .command("show")
    .description("Shows what the catalog knows of a workflow.")
    .addArgument(refArgument())
    .option("--version <n>", "this version (default: the latest)", wholeNumber(1))
    .option("--source", "print its files too");
  onServer(io, command, async ({ client, print }, ref: WorkflowRef, options: ShowOptions) => {
    const { version } = options;
    const query = options.source ? { source: "true" as const } : {};
    const record =
      version === undefined
        ? await client.catalog.get({ params: { ...ref }, query })
        : await client.catalog.version({ params: { ...ref, version: String(version) }, query });
    print(record, workflowView);
  });
  examples(command, [
    "workflow show hello_world",
    "workflow show shop/checkout --version 2 --source",
  ]);
}

function addVersions(workflow: Command, io: CliIo): void {
  const command = workflow
    .command("versions")
    .description("Lists the versions of a workflow, newest first.")
    .addArgument(refArgument());
  partOptions(command);
  onServer(io, command, async ({ client, print }, ref: WorkflowRef, options: PartOptions) => {
    const page = await allPages(options, (query) =>
      client.catalog.versions({ params: { ...ref }, query }),
    );
    print(page, ({ items }, screen) => versionTable(items, screen) + nextPage(page));
  });
  examples(command, ["workflow versions hello_world", "workflow versions hello_world --limit 10"]);
}
