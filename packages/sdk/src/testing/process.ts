/** The parts of the process that the test engine uses, taken before a test can replace them. */
import type { Host } from "../replay/port.ts";

export const immediately: (then: () => void) => void = setImmediate;

const { warn, error } = console;

export const printed: Host["log"] = (level, message, details) => {
  if (level === "debug") return;
  (level === "warn" ? warn : error)(message, ...(details ? [details] : []));
};
