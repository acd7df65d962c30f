import { EngineError } from "@engine/contract";
import type { CliIo } from "../io/cli-io.ts";
import { callServer, type ServerCall, type ServerOptions, serverFlag } from "../server-call.ts";
import { executionId } from "./execution-argument.ts";
import { refText, type WorkflowRef } from "./workflow-ref.ts";

interface Addressed {
  readonly ref: WorkflowRef;
  /** The execution as it was named; undefined for the newest of the workflow. */
  readonly named: string | undefined;
  /** The command, such as `resume`. */
  readonly command: string;
  readonly options: ServerOptions;
}

/**
 * Calls the server about an execution of a workflow. To the server an execution of another workflow
 * is not there (EXE-79); the user is told which workflow it is of, and the command that takes its id
 * alone.
 */
export async function callExecutionOf(
  io: CliIo,
  { ref, named, command, options }: Addressed,
  work: (server: ServerCall, id: string) => Promise<void>,
): Promise<void> {
  await callServer(io, options, async (server) => {
    const id = await executionId(server, named, { workflow: { ...ref, qualified: true } });
    try {
      await work(server, id);
    } catch (error) {
      if (!(error instanceof EngineError) || error.code !== "not_found") throw error;
      const found = await server.client.executions.get({ params: { id } }).catch(() => undefined);
      if (!found) throw error;
      const { namespace, workflow: name } = found.body;
      if (namespace === ref.ns && name === ref.wf) throw error;
      const typed = refText({ namespace: ref.ns, name: ref.wf });
      const again = `npx engine execution ${command} ${id}${serverFlag(options)}`;
      throw new EngineError(
        "not_found",
        `execution ${id} is of ${refText({ namespace, name })}, not of ${typed}; without a workflow: ${again}`,
        { cause: error },
      );
    }
  });
}
