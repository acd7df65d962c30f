import { EngineError } from "@engine/contract";
import { type ServerCall, type ServerOptions, serverFlag } from "../server-call.ts";
import { refText, type WorkflowRef } from "./workflow-ref.ts";

interface Addressed {
  readonly ref: WorkflowRef;
  readonly id: string;
  /** The command, such as `resume`. */
  readonly command: string;
  readonly options: ServerOptions;
}

/**
 * Calls the server about an execution of a workflow. To the server an execution of another workflow
 * is not there (EXE-79); the user is told which workflow it is of, and the command that takes its id
 * alone.
 */
export async function ofWorkflow<T>(
  { client }: Pick<ServerCall, "client">,
  { ref, id, command, options }: Addressed,
  call: () => Promise<T>,
): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof EngineError) || error.code !== "not_found") throw error;
    const found = await client.executions.get({ params: { id } }).catch(() => undefined);
    if (!found || (found.body.namespace === ref.ns && found.body.workflow === ref.wf)) throw error;
    const { namespace, workflow: name } = found.body;
    const typed = refText({ namespace: ref.ns, name: ref.wf });
    const again = `npx engine execution ${command} ${id}${serverFlag(options)}`;
    throw new EngineError(
      "not_found",
      `execution ${id} is of ${refText({ namespace, name })}, not of ${typed}; without a workflow: ${again}`,
      { cause: error },
    );
  }
}
