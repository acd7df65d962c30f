import type { Process } from "./process.ts";
import type { Trace } from "./trace.ts";

interface Log {
  debug(details: object, message: string): void;
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
}

/** Lines of a process's own log, in the trace. */
export function logOf({ name }: Process, trace: Trace): Log {
  const line = (level: string) => (details: object, message: string) =>
    trace.say(name, () => `logs ${level}: ${message} ${JSON.stringify(details, shown)}`);
  return { debug: () => {}, info: line("info"), warn: line("warn"), error: line("error") };
}

function shown(_key: string, value: unknown): unknown {
  return value instanceof Error ? value.message : value;
}
