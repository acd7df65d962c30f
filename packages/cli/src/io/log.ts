import type { Config } from "@engine/contract";
import { type Logger, pino } from "pino";
import { harmless, oneLine, withOwnStyles } from "../render/harmless.ts";
import type { CliIo } from "./cli-io.ts";

/** What the lines of a log go through before they are written. */
export interface LogMask {
  /** Takes out of a line, which is JSON text, what nobody may read (RED-3). */
  masked: (line: string) => string;
}

/** Lines go as they are until somebody knows better. */
export function logMask(): LogMask {
  return { masked: (line) => line };
}

/** The log of a long-running command: on stderr, JSON unless a person watches. */
export async function createLog(
  level: Config["log_level"],
  io: CliIo,
  mask: LogMask = logMask(),
): Promise<Logger> {
  const write = (line: string) => io.err.write(line);
  if (!io.err.isTTY) return pino({ level }, { write: (line) => write(mask.masked(line)) });
  // Loaded only where it is used: it costs a third of a start.
  const { prettyFactory } = await import("pino-pretty");
  const pretty = prettyFactory({
    colorize: !io.env["NO_COLOR"],
    ignore: "pid,hostname,address",
    translateTime: "SYS:HH:MM:ss.l",
    singleLine: true,
  });
  return pino(
    { level },
    { write: (line) => write(withOwnStyles(pretty(shown(mask.masked(line))))) },
  );
}

/** A record whose texts begin no line and no colour of their own; a stack keeps its lines. */
function shown(line: string): Record<string, unknown> {
  return JSON.parse(line, (key, value: unknown) => {
    if (typeof value === "string") return key === "stack" ? harmless(value) : oneLine(value);
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, of]) => [oneLine(name), of]));
  });
}
