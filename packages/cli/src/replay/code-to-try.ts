/** The code that `workflow replay` tries the recorded executions on. */
import type { AnyWorkflow } from "@engine/sdk";
import type { WorkflowRef } from "../arguments/workflow-ref.ts";
import type { CliIo } from "../io/cli-io.ts";
import type { ServerCall } from "../server-call.ts";

/** The workflow of the file to try, else of the newest version that the server has. */
export async function codeToTry(
  io: CliIo,
  client: ServerCall["client"],
  { ref, file }: { readonly ref: WorkflowRef; readonly file: string | undefined },
): Promise<AnyWorkflow> {
  // Bundler and hooks are loaded here, so that `engine --help` is quick.
  const { loadWorkflow } = await import("../workflow-file/load-workflow.ts");
  const { layRegisteredFiles } = await import("../workflow-file/registered-files.ts");
  const name = `${ref.ns}/${ref.wf}`;
  if (file !== undefined) return loadWorkflow(file, name, io);
  const query = { source: "true" as const };
  const { files = [], source_hash } = await client.catalog.get({ params: { ...ref }, query });
  const laid = layRegisteredFiles({ files, source_hash }, io.cwd);
  try {
    return await loadWorkflow(laid.entry, name, io);
  } finally {
    laid.remove();
  }
}
