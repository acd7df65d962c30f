import { hasCode, messageOf } from "./transient.ts";

/** The last words of a worker whose server wants nothing more of it. */
export interface Farewell {
  readonly code: number;
  readonly message: string;
}

export function supersededBy(name: string, { host, pid }: { host: string; pid: number }): Farewell {
  return {
    code: 1,
    message: `worker ${name} now belongs to process ${pid} on ${host}; this one stops`,
  };
}

export function refusedBy(name: string, error: unknown): Farewell {
  if (hasCode(error, "session_superseded")) {
    const { host, pid } = error.details ?? {};
    if (typeof host === "string" && typeof pid === "number") {
      return supersededBy(name, { host, pid });
    }
  }
  // A wrong label or name is a mistake of the command line (WRK-5).
  const isUsage = hasCode(error, "invalid_input") || hasCode(error, "reserved_label");
  return {
    code: isUsage ? 2 : 1,
    message: `the server refuses worker ${name}: ${messageOf(error)}`,
  };
}
