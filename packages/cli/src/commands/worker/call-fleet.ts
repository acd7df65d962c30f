import { EngineError, type ErrorCode } from "@engine/contract";
import type { CliIo } from "../../io/cli-io.ts";
import { callServer, type ServerCall, type ServerOptions } from "../../server-call.ts";

interface FleetOptions extends ServerOptions {
  /** The worker it is about. */
  readonly worker?: string;
}

/** Calls the server about workers; what it refuses comes with the command that helps. */
export async function callFleet(
  io: CliIo,
  { worker = "", ...options }: FleetOptions,
  call: (server: ServerCall) => Promise<void>,
): Promise<void> {
  await callServer(io, options, (server) =>
    call(server).catch((error: unknown) => {
      if (!(error instanceof EngineError)) throw error;
      const { code, message, details } = error;
      const advice = ADVICE[code]?.(worker);
      // Where something else is missing, the whole server for example, advice on workers is no help.
      const isOther = code === "not_found" && details?.["resource"] !== "worker";
      if (advice === undefined || isOther) throw error;
      throw new EngineError(code, `${message}; ${advice}`, { ...(details && { details }) });
    }),
  );
}

const ADVICE: Readonly<Partial<Record<ErrorCode, (worker: string) => string>>> = {
  not_found: () => "see all of them with: npx engine worker list",
  worker_offline: () => "what it ran goes on elsewhere",
  worker_connected: (worker) => `for example with: npx engine worker drain ${worker} --wait`,
};
