import { EngineError } from "@engine/contract";
import type { Command } from "commander";
import type { CliIo } from "../io/cli-io.ts";
import { callServer, serverFlag, serverOptions } from "../server-call.ts";
import {
  type CallExecution,
  type ExecutionOptions,
  executionId,
  withoutId,
} from "./execution-argument.ts";
import { refText, type WorkflowRef } from "./workflow-ref.ts";

/**
 * As `actOnExecution`, for a command about an execution of a workflow. To the server an execution of
 * another workflow is not there (EXE-79); the user is told which workflow it is of, and the command
 * that takes its id alone.
 *
 * @param alone That command, such as `resume`.
 */
export function actOnExecutionOf<Options extends ExecutionOptions>(
  io: CliIo,
  command: Command,
  alone: string,
  act: (
    call: CallExecution,
    given: readonly [WorkflowRef, ...(string | undefined)[]],
    options: Options,
  ) => Promise<void>,
): void {
  serverOptions(command).action(async (ref: WorkflowRef, ...passed: unknown[]) => {
    // Commander passes the arguments, the options, and the command itself.
    const options = passed.at(-2) as Options;
    const [named, ...behind] = withoutId(options, passed.slice(0, -2) as (string | undefined)[]);
    const call: CallExecution = (work) =>
      callServer(io, options, async (server) => {
        const id = await executionId(server, named, { workflow: { ...ref, qualified: true } });
        try {
          await work(server, id);
        } catch (error) {
          if (!(error instanceof EngineError) || error.code !== "not_found") throw error;
          const { executions } = server.client;
          const found = await executions.get({ params: { id } }).catch(() => undefined);
          if (!found) throw error;
          const { namespace, workflow: name } = found.body;
          if (namespace === ref.ns && name === ref.wf) throw error;
          const typed = refText({ namespace: ref.ns, name: ref.wf });
          const again = `npx engine execution ${alone} ${id}${serverFlag(options)}`;
          throw new EngineError(
            "not_found",
            `execution ${id} is of ${refText({ namespace, name })}, not of ${typed}; without a workflow: ${again}`,
            { cause: error },
          );
        }
      });
    await act(call, [ref, ...behind], options);
  });
}
