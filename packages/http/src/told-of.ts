/** What is told of requests, for a log of who read what and who was refused. */
import type { Route } from "@engine/contract";
import type { Caller } from "./authorize.ts";
import type { Call } from "./handlers.ts";

/** A request that was refused for who asks. */
export interface Refused {
  /** The row's name in the route table, as `schedules.create`. */
  readonly action: string;
  /** Null until it is known who asks. */
  readonly caller: Caller | null;
  readonly address: string | undefined;
  readonly request_id: string;
}

/** A read that was allowed, as the audit log may name it. */
export interface Read extends Refused {
  readonly caller: Caller;
  /** What the path names, as `default/hello`; null where it names nothing. */
  readonly target: string | null;
}

/** Whether its reads are told of one by one: what shows secrets is written down where it is answered. */
export function isToldOf({ effect, permission, redact }: Route): boolean {
  const { kind } = permission;
  return effect === "read" && kind !== "open" && kind !== "worker" && redact !== false;
}

export function readOf(
  { action, caller, address, request_id }: Call,
  params: Readonly<Record<string, string>>,
): Read {
  const target = Object.values(params).join("/") || null;
  return { action, caller, address, request_id, target };
}
