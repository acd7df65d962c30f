import type { Config } from "@engine/contract";
import { type Logger, pino } from "pino";
import type { CliIo } from "./cli-io.ts";

/** The log of a long-running command: on stderr, JSON unless a person watches. */
export async function createLog(level: Config["log_level"], io: CliIo): Promise<Logger> {
  const write = (line: string) => io.err.write(line);
  if (!io.err.isTTY) return pino({ level }, { write });
  // Loaded only where it is used: it costs a third of a start.
  const { prettyFactory } = await import("pino-pretty");
  const pretty = prettyFactory({
    colorize: !io.env["NO_COLOR"],
    ignore: "pid,hostname,address",
    translateTime: "SYS:HH:MM:ss.l",
    singleLine: true,
  });
  return pino({ level }, { write: (line) => write(pretty(line)) });
}
