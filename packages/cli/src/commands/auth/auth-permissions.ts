import { rightsOf } from "@engine/contract";
import type { Command } from "commander";
import { parseRef, refText, type WorkflowRef } from "../../arguments/workflow-ref.ts";
import { examples } from "../../examples.ts";
import type { CliIo } from "../../io/cli-io.ts";
import { lines } from "../../render/table.ts";
import { onServer, type ServerOptions } from "../../server-call.ts";
import { heldLine } from "./held-line.ts";

interface PermissionOptions extends ServerOptions {
  readonly workflow?: WorkflowRef;
}

export function addPermissions(auth: Command, io: CliIo): void {
  const command = auth
    .command("permissions")
    .summary("Lists what reading and running workflows takes.")
    .description(
      "Lists what reading and running workflows takes, and whether you hold it: of all that you may read, or of one. Running takes more than :run: each task of the workflow, and the same of every workflow that it calls.",
    )
    .option("--workflow <ref>", "only of this one: NAME or NAMESPACE/NAME", parseRef);
  onServer(io, command, async ({ client, print }, { workflow, format }: PermissionOptions) => {
    const query = workflow ? { workflow: `${workflow.ns}/${workflow.wf}` } : {};
    const answer = await client.auth.permissions({ query });
    // What is printed as it is needs no second question.
    const held = rightsOf(format === "json" ? [] : (await client.auth.whoami()).permissions);
    const shown = (permissions: readonly string[]) =>
      permissions.map((one) => heldLine(one, held.holds(one)));
    print(answer, () => {
      if ("permissions" in answer) return lines(shown(answer.permissions));
      const found = Object.entries(answer.items);
      if (found.length === 0) return NONE;
      return found
        .map(([name, permissions]) => {
          const [namespace = "", workflowName = ""] = name.split("/");
          const title = refText({ namespace, name: workflowName });
          return lines([title, ...shown(permissions).map((line) => `  ${line}`)]);
        })
        .join("\n");
    });
  });
  examples(command, [
    "auth permissions",
    "auth permissions --workflow shop/checkout",
    "auth permissions --format json",
  ]);
}

const NONE =
  "There is no workflow that you may read. See what you hold with: npx engine auth whoami\n";
