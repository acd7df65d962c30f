import type { Command } from "commander";
import { wholeNumber } from "../../arguments/option-values.ts";
import { refArgument, refText, type WorkflowRef } from "../../arguments/workflow-ref.ts";
import { confirmLoss } from "../../confirm-loss.ts";
import { examples } from "../../examples.ts";
import type { CliIo } from "../../io/cli-io.ts";
import { onServer, type ServerCall } from "../../server-call.ts";

interface DeleteOptions {
  readonly version?: number;
  readonly yes?: boolean;
}

export function addDelete(workflow: Command, io: CliIo): void {
  const command = workflow
    .command("delete")
    .summary("Deletes a workflow or one version of it.")
    .description(
      "Deletes a workflow or one version of it: new runs do not find it any more. Executions that were created before keep the code of their version and go on.",
    )
    .addArgument(refArgument())
    .option("--version <n>", "only this version (default: all)", wholeNumber(1))
    .option("--yes", "do not ask");
  onServer(io, command, async ({ client, print }, ref: WorkflowRef, options: DeleteOptions) => {
    const { version, yes } = options;
    const name = refText({ namespace: ref.ns, name: ref.wf });
    const consequence = await plan(client, ref, version);
    const what = version === undefined ? name : `version ${version} of ${name}`;
    const loss = { what: `This deletes ${what}: ${consequence}.`, kept: KEPT };
    if (!yes) await confirmLoss(io, { ...loss, question: "Delete it?" });
    const query = version === undefined ? {} : { version };
    await client.catalog.delete({ params: { ...ref }, query });
    print(
      { namespace: ref.ns, name: ref.wf, version: version ?? null },
      () => `Deleted ${what}: ${consequence}.\n${KEPT}\n`,
    );
  });
  examples(command, [
    "workflow delete hello_world --version 2",
    "workflow delete shop/checkout --yes",
  ]);
}

const KEPT = "Executions that were created before keep the code of their version and go on.";

/** What is deleted, and what new runs do then. Throws `not_found` for a version that is not there. */
async function plan(
  client: ServerCall["client"],
  ref: WorkflowRef,
  version: number | undefined,
): Promise<string> {
  const newest = await client.catalog.versions({ params: { ...ref }, query: { limit: 2 } });
  if (version === undefined) {
    const { total } = newest;
    const count = total === 1 ? "its only version goes" : `all its ${total} versions go`;
    return `${count}, and new runs are refused`;
  }
  await client.catalog.version({ params: { ...ref, version: String(version) } });
  const current = newest.items.find((item) => item.version !== version);
  return current === undefined
    ? "it is the only one, and new runs are refused"
    : `new runs use version ${current.version}, unless they ask for another`;
}
