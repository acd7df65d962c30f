import type { ExecutionSummary, State } from "@engine/contract";
import { type Command, Option } from "commander";
import {
  executionId,
  idOrBeginning,
  type WorkflowFilter,
  workflowFilter,
  workflowQuery,
} from "../../arguments/execution-argument.ts";
import { instant, state, wholeNumber } from "../../arguments/option-values.ts";
import { examples } from "../../examples.ts";
import type { CliIo } from "../../io/cli-io.ts";
import { executionTable } from "../../render/execution-table.ts";
import { nextPage, type Page } from "../../render/next-page.ts";
import { lines } from "../../render/table.ts";
import { onServer, type ServerOptions } from "../../server-call.ts";

interface ListOptions extends ServerOptions {
  readonly workflow?: WorkflowFilter;
  readonly namespace?: string;
  readonly state?: readonly State[];
  readonly version?: number;
  readonly name?: string;
  readonly parent?: string;
  readonly root?: boolean;
  readonly schedule?: string;
  readonly createdAfter?: string;
  readonly createdBefore?: string;
  readonly finishedAfter?: string;
  readonly finishedBefore?: string;
  readonly order: "created_desc" | "created_asc";
  readonly limit: number;
  readonly offset: number;
  readonly before?: string;
  readonly wide?: boolean;
}

/** Where no terminal tells its width, as in a pipe. */
const USUAL_COLUMNS = 80;

export function addList(execution: Command, io: CliIo): void {
  const command = execution
    .command("list")
    .description("Lists executions, newest first.")
    .option("--workflow <ref>", "only of this workflow: NAME or NAMESPACE/NAME", workflowFilter)
    .option("-n, --namespace <ns>", "only of this namespace")
    .option("--state <state>", "only in this state; may be repeated", state)
    .option("--version <n>", "only of this version", wholeNumber(1))
    .option("--name <label>", "only with a label that begins like this, in any case")
    .option("--parent <id>", "only children of this execution: what it called", idOrBeginning)
    .addOption(new Option("--root", "only executions that are nobody's child").conflicts("parent"))
    .option("--schedule <name>", "only those that this schedule started")
    .option("--created-after <instant>", "only those created after: ISO 8601, UTC", instant)
    .option("--created-before <instant>", "only those created before", instant)
    .option("--finished-after <instant>", "only those that ended after", instant)
    .option("--finished-before <instant>", "only those that ended before", instant)
    .addOption(
      new Option("--order <order>", "newest or oldest first")
        .choices(["created_desc", "created_asc"])
        .default("created_desc"),
    )
    .option("--limit <n>", "at most so many, up to 200", wholeNumber(1, 200), 50)
    .option("--offset <n>", "skip so many", wholeNumber(0), 0)
    .option(
      "--before <id>",
      "the page behind this execution, the last one that was listed",
      idOrBeginning,
    )
    .option("--wide", "whole ids and texts, and more columns, however wide the terminal is");
  onServer(io, command, async ({ client, print }, options: ListOptions) => {
    const { parent, before, wide } = options;
    const whole = {
      ...options,
      ...(parent && { parent: await executionId({ client }, parent) }),
      ...(before && { before: await executionId({ client }, before) }),
    };
    const page = await client.executions.list({ query: listQuery(whole) });
    print(page, ({ items, total }, screen) => {
      if (items.length === 0) return noneText(total);
      const columns = wide ? undefined : (screen.columns ?? USUAL_COLUMNS);
      return executionTable(items, { ...screen, columns }) + following(page, options);
    });
  });
  examples(command, [
    "execution list",
    "execution list --wide",
    "execution list --workflow shop/checkout --state paused --state failed",
    "execution list --state failed --finished-after 2026-11-20T09:00:00Z --root",
    "execution list --schedule nightly --order created_asc --limit 200 --format json",
    "execution list --before 0198c2f4-5b7a-7c31-9d7e-3f1b8a6c2d10",
  ]);
}

function listQuery(options: ListOptions) {
  const { namespace, state: states, root } = options;
  const only = workflowQuery(options.workflow);
  return {
    ...only,
    namespace: namespace ?? only.namespace,
    ...(states && { state: [...states] }),
    version: options.version,
    name: options.name,
    parent_id: options.parent,
    ...(root && { root: "true" as const }),
    schedule: options.schedule,
    created_after: options.createdAfter,
    created_before: options.createdBefore,
    finished_after: options.finishedAfter,
    finished_before: options.finishedBefore,
    order: options.order,
    limit: options.limit,
    offset: options.offset,
    before: options.before,
  };
}

function noneText(total: number): string {
  return total === 0
    ? "No executions match. Start one: npx engine workflow run <ref> [input]\n"
    : `No more: ${total} match in all.\n`;
}

/** Behind an id the next page stays where it is, however many are created meanwhile. */
function following(page: Page<ExecutionSummary>, { before, limit }: ListOptions): string {
  const last = page.items.at(-1)?.execution_id;
  if (page.offset > 0 || last === undefined) return nextPage(page);
  if (before === undefined) return nextPage(page, `--before ${last}`);
  // How many lie before this page is not told: a full one may have others behind it.
  const isFull = page.items.length === limit;
  return isFull ? lines([`${page.total} in all; continue with --before ${last}`]) : "";
}
