import { EngineError, type ExecutionSummary } from "@engine/contract";
import { type Command, InvalidArgumentError, Option } from "commander";
import { UsageError } from "../io/cli-error.ts";
import type { CliIo } from "../io/cli-io.ts";
import { executionTitle } from "../render/execution-view.ts";
import { callServer, type ServerCall, type ServerOptions, serverOptions } from "../server-call.ts";
import { parseRef, type WorkflowRef } from "./workflow-ref.ts";

/** A bare NAME matches in every namespace: this is a filter, not an address. */
export type WorkflowFilter = WorkflowRef & { readonly qualified: boolean };

/** Options of every command about one execution. */
export interface ExecutionOptions extends ServerOptions {
  readonly last?: boolean;
  readonly workflow?: WorkflowFilter;
}

/** How ids may be typed. */
export const ID_HELP = "execution id, or how it begins: 4 characters or more";

/** `[id]`, for which `--last` stands in. Options of its own are named behind it. */
export function executionArgument(command: Command): Command {
  return command
    .argument("[id]", ID_HELP)
    .option("--last", "the newest execution that no other one called, in place of an id")
    .addOption(
      new Option(
        "--workflow <ref>",
        "with --last: the newest of this workflow, NAME or NAMESPACE/NAME",
      ).argParser(workflowFilter),
    );
}

export function workflowFilter(text: string): WorkflowFilter {
  return { ...parseRef(text), qualified: text.includes("/") };
}

/** An id in a filter, which finds nothing rather than refuse what is none. */
export function idOrBeginning(text: string): string {
  if (/^[0-9a-f-]{4,36}$/i.test(text)) return text;
  throw new InvalidArgumentError(`Expected an ${ID_HELP}.`);
}

/** What a list is asked for, to find only executions of a workflow. */
export function workflowQuery(workflow: WorkflowFilter | undefined): {
  readonly workflow: string | undefined;
  readonly namespace: string | undefined;
} {
  return { workflow: workflow?.wf, namespace: workflow?.qualified ? workflow.ns : undefined };
}

/** The same behind a REF, which then says of which workflow the newest is meant. */
export function executionOfArgument(command: Command): Command {
  return command
    .argument("[id]", ID_HELP)
    .option("--last", "the newest execution of REF, in place of an id");
}

/** Arguments with the id first, which is undefined with `--last`: the others then stand where it would. */
export function withoutId(
  { last, workflow }: Pick<ExecutionOptions, "last" | "workflow">,
  given: readonly (string | undefined)[],
): readonly (string | undefined)[] {
  if (last) {
    if (given.at(-1) === undefined) return [undefined, ...given];
    throw new UsageError("too many arguments: --last stands in for the id");
  }
  if (workflow) throw new UsageError("--workflow belongs to --last");
  if (given[0] !== undefined) return given;
  throw new UsageError(
    "missing required argument 'id': an execution id, how it begins, or --last for the newest",
  );
}

/** Calls the server about the execution that was meant. */
export type CallExecution = (
  work: (server: ServerCall, id: string) => Promise<void>,
) => Promise<void>;

/**
 * Gives a command about an execution the options of a server, and has it act: it looks at the
 * arguments behind the id first, and then calls.
 */
export function actOnExecution<Options extends ExecutionOptions>(
  io: CliIo,
  command: Command,
  act: (
    call: CallExecution,
    behind: readonly (string | undefined)[],
    options: Options,
  ) => Promise<void>,
): void {
  serverOptions(command).action(async (...passed: unknown[]) => {
    // Commander passes the arguments, the options, and the command itself.
    const options = passed.at(-2) as Options;
    const [named, ...behind] = withoutId(options, passed.slice(0, -2) as (string | undefined)[]);
    const call: CallExecution = (work) =>
      callServer(io, options, async (server) =>
        work(server, await executionId(server, named, options)),
      );
    await act(call, behind, options);
  });
}

/** The same for a command that has no arguments but `[id]`, which it is given too. */
export function onExecution<Options extends ExecutionOptions>(
  io: CliIo,
  command: Command,
  work: (server: ServerCall, id: string, options: Options) => Promise<void>,
): void {
  actOnExecution<Options>(io, executionArgument(command), (call, _, options) =>
    call((server, id) => work(server, id, options)),
  );
}

/** The execution that was meant. A whole id, or what cannot be one, is the server's to judge. */
export async function executionId(
  { client }: Pick<ServerCall, "client">,
  id: string | undefined,
  { workflow }: Pick<ExecutionOptions, "workflow"> = {},
): Promise<string> {
  if (id === undefined) return newest(client, workflow);
  const digits = id.replaceAll("-", "").toLowerCase();
  if (!/^[0-9a-f]{1,31}$/.test(digits)) return id;
  if (digits.length < SHORTEST) {
    throw new UsageError(
      `"${id}" is too short for the beginning of an id: give ${SHORTEST} characters or more`,
    );
  }
  return beginningWith(client, digits);
}

const SHORTEST = 4;
const CANDIDATES = 5;

async function newest(
  client: ServerCall["client"],
  workflow: WorkflowFilter | undefined,
): Promise<string> {
  const which = workflow ? workflowQuery(workflow) : { root: "true" as const };
  const { items } = await client.executions.list({ query: { ...which, limit: 1 } });
  const [first] = items;
  if (first) return first.execution_id;
  const of = workflow ? ` of ${workflow.qualified ? `${workflow.ns}/` : ""}${workflow.wf}` : "";
  throw new EngineError("not_found", `there is no execution${of} yet, so --last names none`);
}

/** Ids sort by their text, so ids that begin alike follow the last id before them. */
async function beginningWith(client: ServerCall["client"], digits: string): Promise<string> {
  const before = BigInt(`0x${digits.padEnd(32, "0")}`) - 1n;
  const query = { order: "created_asc", before: dashed(before), limit: CANDIDATES + 1 } as const;
  const { items } = await client.executions.list({ query });
  const beginning = dashes(digits);
  const found = items.filter((item) => item.execution_id.startsWith(beginning));
  const [first, second] = found;
  if (!first) {
    const details = { resource: "execution" };
    throw new EngineError("not_found", `no execution id begins with ${beginning}`, { details });
  }
  if (second) throw new EngineError("conflict", severalText(beginning, found));
  return first.execution_id;
}

function severalText(beginning: string, found: readonly ExecutionSummary[]): string {
  const shown = found
    .slice(0, CANDIDATES)
    .map((item) => `${item.execution_id}   ${executionTitle(item)}   ${item.state.toLowerCase()}`);
  const more = found.length > CANDIDATES ? ["and more"] : [];
  return [
    `several execution ids begin with ${beginning}; type more of it:`,
    ...shown,
    ...more,
  ].join("\n");
}

function dashed(id: bigint): string {
  return dashes((id < 0n ? 0n : id).toString(16).padStart(32, "0"));
}

function dashes(digits: string): string {
  const groups = [0, 8, 12, 16, 20, 32].map((from, i, all) => digits.slice(from, all[i + 1]));
  return groups.filter((group) => group !== "").join("-");
}
