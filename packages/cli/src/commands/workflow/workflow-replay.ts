import type { State } from "@engine/contract";
import { Argument, type Command, Option } from "commander";
import { allPages } from "../../all-pages.ts";
import { state, wholeNumber } from "../../arguments/option-values.ts";
import { parseRef, refText, type WorkflowRef } from "../../arguments/workflow-ref.ts";
import { examples } from "../../examples.ts";
import { Reported, reportError, UsageError } from "../../io/cli-error.ts";
import type { CliIo } from "../../io/cli-io.ts";
import { ownSequence } from "../../render/harmless.ts";
import { painter } from "../../render/paint.ts";
import { count, replayView } from "../../render/replay-view.ts";
import { codeToTry } from "../../replay/code-to-try.ts";
import { readHistoryFile } from "../../replay/history-file.ts";
import { type Replayed, replayOn, replayRecorded } from "../../replay/replayed.ts";
import { callServer, printer, type ServerOptions, serverOptions } from "../../server-call.ts";
import { withUnawaitedRejections } from "../../workflow-file/unawaited-rejections.ts";

interface ReplayOptions extends ServerOptions {
  readonly history?: readonly string[];
  readonly file?: string;
  readonly limit?: number;
  readonly state?: readonly State[];
}

const DEFAULT_LIMIT = 100;
const EXECUTIONS_PER_PAGE = 200;

export function addReplay(workflow: Command, io: CliIo): void {
  const command = workflow
    .command("replay")
    .summary("Tells which recorded executions would diverge on new code.")
    .description(
      "Replays recorded executions on code, in this process, and tells which of them would diverge: a check before a deploy. No task runs and nothing is written. Exit code 1 when one diverges.",
    )
    .addArgument(
      new Argument(
        "[ref]",
        "NAME or NAMESPACE/NAME: replays its executions on the server, newest first",
      ).argParser(parseRef),
    )
    .addOption(
      new Option(
        "--history <files...>",
        "replay these files of `execution export` instead, without a server",
      ).conflicts(["limit", "state"]),
    )
    .option(
      "--file <file>",
      "TypeScript file with the code to try (default: the newest registered version)",
    )
    .option("--limit <n>", `at most so many executions (default: ${DEFAULT_LIMIT})`, wholeNumber(1))
    .option("--state <state>", "only executions in this state; may be repeated", state);
  serverOptions(command).action((ref: WorkflowRef | undefined, options: ReplayOptions) =>
    replay(io, ref, options),
  );
  examples(command, [
    "workflow replay shop/checkout --file checkout.ts",
    "workflow replay shop/checkout --file checkout.ts --state running --state paused",
    "workflow replay --history golden/*.json --file checkout.ts",
  ]);
}

async function replay(
  io: CliIo,
  ref: WorkflowRef | undefined,
  options: ReplayOptions,
): Promise<void> {
  const { history } = options;
  if ((ref === undefined) === (history === undefined)) {
    throw new UsageError("name either a workflow or files with --history");
  }
  // What code leaves alone in a check it left alone when it ran.
  const replayed = await withUnawaitedRejections(
    () => {},
    () => (ref ? ofServer(io, ref, options) : ofFiles(io, options)),
  );
  const print = printer(io, options.format);
  if (ref && replayed.length === 0) {
    const name = refText({ namespace: ref.ns, name: ref.wf });
    print(replayed, () => `No executions of ${name} match; there is nothing to replay.\n`);
    return;
  }
  print(replayed, () => replayView(replayed, painter(io.out, io.env)));
  const diverged = count(replayed, "diverged");
  if (diverged === 0) return;
  reportError(io, `${diverged} of ${replayed.length} diverged`);
  throw new Reported();
}

/** The files are read first: a file that is no history should not be found out after a minute. */
async function ofFiles(io: CliIo, { history = [], file }: ReplayOptions): Promise<Replayed[]> {
  if (file === undefined) {
    throw new UsageError("--history needs the code to try: add --file <file>");
  }
  const histories = history.map((path) => readHistoryFile(io, path));
  const { loadWorkflow } = await import("../../workflow-file/load-workflow.ts");
  return each(io, histories, async (one) => {
    const { namespace, workflow } = one.execution;
    return replayOn(await loadWorkflow(file, `${namespace}/${workflow}`, io), one);
  });
}

async function ofServer(io: CliIo, ref: WorkflowRef, options: ReplayOptions): Promise<Replayed[]> {
  const { file, limit = DEFAULT_LIMIT, state: states } = options;
  return callServer(io, options, async ({ client }) => {
    // First of all: a name that nobody knows has no executions either.
    const workflow = await codeToTry(io, client, { ref, file });
    const only = states && { state: [...states] };
    const { items } = await allPages(
      { limit, offset: 0 },
      (place) =>
        client.executions.listOfWorkflow({ params: { ...ref }, query: { ...place, ...only } }),
      EXECUTIONS_PER_PAGE,
    );
    return each(io, items, (execution) => replayRecorded(client, workflow, execution));
  });
}

/** One after the other; at a terminal the user sees how far it is. */
async function each<Item>(
  io: CliIo,
  items: readonly Item[],
  run: (item: Item) => Promise<Replayed>,
): Promise<Replayed[]> {
  const say = (text: string) => io.err.isTTY && io.err.write(CLEAR + text);
  const replayed: Replayed[] = [];
  try {
    for (const item of items) {
      say(`replaying ${replayed.length + 1} of ${items.length}`);
      replayed.push(await run(item));
    }
  } finally {
    say("");
  }
  return replayed;
}

/** Clears the line of a terminal and goes to its beginning. */
const CLEAR = ownSequence(2, "K") + ownSequence(1, "G");
