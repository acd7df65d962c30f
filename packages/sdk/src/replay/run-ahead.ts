/**
 * Code may have the outcome of a call before it is durable (decision 0018): what it says next then
 * shares the commit, and a step costs one way to the server instead of two. Nothing that the outside
 * could notice happens before that, since functions of tasks wait until the log has caught up.
 */
import type { Event } from "@engine/contract";
import type { Call } from "./call.ts";
import type { RunOptions } from "./port.ts";

/** Events that the code may be ahead of the log: a loop of recorded values is no delta without end. */
const MOST_AHEAD = 100;

/**
 * Whether code may run ahead with an outcome. If the server has written something meanwhile, that
 * comes first in the log, and the code has gone a way that no replay would go: it is run again from
 * the log. So only while no other call is open, for its function would be lost with the code.
 */
export function mayRunAhead(
  { runsAhead = true, info, limits }: RunOptions,
  of: { call: Call; value: string; open: ReadonlySet<Call>; unsent: number },
): boolean {
  const { call, value, open, unsent } = of;
  if (!runsAhead || info.transient || unsent >= MOST_AHEAD) return false;
  // A large value stands elsewhere, and the log would not read as it does here.
  if (value.length > limits.inline_value_bytes) return false;
  return open.size === 1 && open.has(call);
}

/** The log that goes on from where code has run ahead of another one. */
export interface Overtaken {
  readonly history: readonly Event[];
  /** What the server has written behind it. */
  readonly pushed: readonly { base_seq: number; events: readonly Event[] }[];
}
