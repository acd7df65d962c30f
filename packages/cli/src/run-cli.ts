import { trustCaFile } from "@engine/client";
import { CommanderError } from "commander";
import { errorText, Reported, reportError, UsageError } from "./io/cli-error.ts";
import type { CliIo } from "./io/cli-io.ts";
import { harmlessIo } from "./io/harmless-io.ts";
import { createProgram } from "./program.ts";

/** Runs one command line, without the program's own name, and answers its exit code. */
export async function runCli(args: readonly string[], world: CliIo): Promise<number> {
  const io = harmlessIo(world);
  const program = createProgram(io);
  try {
    // Before anything connects: the worker and the login, too, go to servers with such certificates.
    trustCaFile(io.env["ENGINE_CA_FILE"]);
    await program.parseAsync(args.length ? [...args] : ["--help"], { from: "user" });
    return 0;
  } catch (error) {
    // Commander has printed its message; help and version that were asked for are no errors.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    if (error instanceof Reported) return 1;
    reportError(io, errorText(error));
    if (error instanceof UsageError) return 2;
    if (error instanceof Error && io.env["ENGINE_LOG_LEVEL"] === "debug") {
      io.err.write(`${error.stack}\n`);
    }
    return 1;
  }
}
