import { EngineError, type ErrorCode } from "@engine/contract";
import type { Command } from "commander";
import type { CliIo } from "../../io/cli-io.ts";
import { onServer, type ServerCall } from "../../server-call.ts";

/** As `onServer`, for a command about workers: a refusal comes with the command that helps. */
export function onFleet<Given extends unknown[]>(
  io: CliIo,
  command: Command,
  work: (server: ServerCall, ...given: Given) => Promise<void>,
): void {
  onServer<Given>(io, command, (server, ...given) =>
    work(server, ...given).catch((error: unknown) => {
      if (!(error instanceof EngineError)) throw error;
      const { code, message, details } = error;
      const advice = ADVICE[code]?.(given[0]);
      // Where something else is missing, the whole server for example, advice on workers is no help.
      const isOther = code === "not_found" && details?.["resource"] !== "worker";
      if (advice === undefined || isOther) throw error;
      throw new EngineError(code, `${message}; ${advice}`, { ...(details && { details }) });
    }),
  );
}

/** By the first argument, which is the name of the worker wherever the server answers like this. */
const ADVICE: Readonly<Partial<Record<ErrorCode, (worker: unknown) => string>>> = {
  not_found: () => "see all of them with: npx engine worker list",
  worker_offline: () => "what it ran goes on elsewhere",
  worker_connected: (worker) => `for example with: npx engine worker drain ${worker} --wait`,
};
