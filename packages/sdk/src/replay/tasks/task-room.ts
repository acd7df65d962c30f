import { taskRequests } from "@engine/contract";
import type { Call, TaskDefinition } from "../calls/call.ts";
import type { Budget } from "../port.ts";
import { BodyRoom } from "./body-room.ts";

/** Room for the function of a task that requests some, where there is a budget (RES-4). */
export function taskRoom(
  call: Call,
  { options }: TaskDefinition,
  budget: Budget | undefined,
): BodyRoom | undefined {
  if (!options.requests || !budget) return undefined;
  const requests = taskRequests(options.requests);
  if (!requests) return undefined;
  const above: BodyRoom[] = [];
  for (let c = call.scope.parent; c; c = c.scope.parent) if (c.room) above.push(c.room);
  return new BodyRoom({ budget, call: call.id, requests, above });
}
