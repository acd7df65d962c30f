import type { RecordedEvent, State } from "@engine/contract";
import { type Command, Option } from "commander";
import type { CliIo } from "../cli-io.ts";
import { examples } from "../examples.ts";
import { state, wholeNumber } from "../option-values.ts";
import { detailedView, eventTable, executionTable } from "../render/execution-view.ts";
import { lines } from "../render/table.ts";
import { callServer, type ServerCall, type ServerOptions, serverOptions } from "../server-call.ts";
import { parseRef, type WorkflowRef } from "../workflow-ref.ts";
import { addExport } from "./execution-export.ts";
import { addFork, addRestart } from "./execution-fork.ts";
import { addSignal } from "./execution-signal.ts";

interface ListOptions extends ServerOptions {
  readonly workflow?: WorkflowRef & { readonly qualified: boolean };
  readonly namespace?: string;
  readonly state?: readonly State[];
  readonly parent?: string;
  readonly root?: boolean;
  readonly limit: number;
  readonly offset: number;
}

/** `engine execution …`: runs, whatever workflow they are of. */
export function addExecution(program: Command, io: CliIo): void {
  const execution = program
    .command("execution")
    .description("Shows, signals and forks executions.");
  addList(execution, io);
  addShow(execution, io);
  addEvents(execution, io);
  addSignal(execution, io);
  addFork(execution, io);
  addRestart(execution, io);
  addExport(execution, io);
}

function addList(execution: Command, io: CliIo): void {
  const command = execution
    .command("list")
    .description("Lists executions, newest first.")
    .option("--workflow <ref>", "only of this workflow: NAME or NAMESPACE/NAME", workflowFilter)
    .option("-n, --namespace <ns>", "only of this namespace")
    .option("--state <state>", "only in this state; may be repeated", state)
    .option("--parent <id>", "only children of this execution: what it called")
    .addOption(new Option("--root", "only executions that are nobody's child").conflicts("parent"))
    .option("--limit <n>", "at most so many, up to 200", wholeNumber(1), 50)
    .option("--offset <n>", "skip so many", wholeNumber(0), 0);
  serverOptions(command).action((options: ListOptions) =>
    callServer(io, options, async ({ client, print, paint }) => {
      const page = await client.executions.list({ query: listQuery(options) });
      print(page, () =>
        page.items.length === 0
          ? "No executions match. Start one: npx engine workflow run <ref> [input]\n"
          : executionTable(page.items, paint, io.now()) + nextPage(page),
      );
    }),
  );
  examples(command, [
    "execution list",
    "execution list --workflow shop/checkout --state paused --state failed",
    "execution list --root --limit 200 --format json",
    "execution list --parent 0198c2f4-5b7a-7c31-9d7e-3f1b8a6c2d10",
  ]);
}

function listQuery(options: ListOptions) {
  const { workflow, namespace, state: states, parent, root, limit, offset } = options;
  const ns = namespace ?? (workflow?.qualified ? workflow.ns : undefined);
  return {
    limit,
    offset,
    ...(workflow && { workflow: workflow.wf }),
    ...(ns !== undefined && { namespace: ns }),
    ...(states && { state: [...states] }),
    ...(parent !== undefined && { parent_id: parent }),
    ...(root && { root: "true" as const }),
  };
}

/** A bare NAME matches in every namespace: this is a filter, not an address. */
function workflowFilter(text: string): WorkflowRef & { qualified: boolean } {
  return { ...parseRef(text), qualified: text.includes("/") };
}

function nextPage(page: { items: readonly unknown[]; total: number; offset: number }): string {
  const shown = page.offset + page.items.length;
  return shown < page.total
    ? lines([`${page.total - shown} more; continue with --offset ${shown}`])
    : "";
}

function addShow(execution: Command, io: CliIo): void {
  const command = execution
    .command("show")
    .description("Shows one execution: state, input, output or error.")
    .argument("<id>", "execution id")
    .option("--detailed", "add its log");
  serverOptions(command).action((id: string, options: ServerOptions & { detailed?: boolean }) =>
    callServer(io, options, async ({ client, print, paint }) => {
      const query = options.detailed ? { detailed: "true" as const } : {};
      // Whatever the state, this is an answer; only what else goes wrong is thrown.
      const { body: record } = await client.executions.get({ params: { id }, query });
      print(record, () => detailedView(record, paint, { now: io.now(), columns: io.out.columns }));
    }),
  );
  examples(command, ["execution show 0198c2f4-5b7a-7c31-9d7e-3f1b8a6c2d10 --detailed"]);
}

function addEvents(execution: Command, io: CliIo): void {
  const command = execution
    .command("events")
    .description("Prints the log of an execution, oldest first.")
    .argument("<id>", "execution id");
  serverOptions(command).action((id: string, options: ServerOptions) =>
    callServer(io, options, async ({ client, print, paint }) => {
      const items = await allEvents(client, id);
      const list = { items, total: items.length, limit: items.length, offset: 0 };
      print(list, () => eventTable(items, paint, io.out.columns));
    }),
  );
  examples(command, ["execution events 0198c2f4-5b7a-7c31-9d7e-3f1b8a6c2d10 --format json"]);
}

const EVENTS_PER_PAGE = 5000;

async function allEvents(client: ServerCall["client"], id: string): Promise<RecordedEvent[]> {
  const events: RecordedEvent[] = [];
  for (;;) {
    const query = { after: events.at(-1)?.seq ?? 0, limit: EVENTS_PER_PAGE };
    const { items } = await client.executions.events({ params: { id }, query });
    events.push(...items);
    if (items.length < EVENTS_PER_PAGE) return events;
  }
}
