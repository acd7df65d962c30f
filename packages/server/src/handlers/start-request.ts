import type { Parsed, routes } from "@engine/contract";
import type { Call } from "@engine/http";
import type { StartRequest } from "../executions/requests.ts";
import { routingHeader } from "./routing-header.ts";

/** The start that a route asks for; the headers are those of every route that starts an execution. */
export function startRequest(
  asked: Omit<StartRequest, "trigger" | "by">,
  headers: Parsed<typeof routes.executions.run>["headers"],
  call: Call,
): StartRequest {
  const { caller } = call;
  return {
    ...asked,
    trigger: { kind: "api" },
    by: caller.principal,
    via: caller.identity?.via_execution ?? null,
    idempotency_key: headers["idempotency-key"],
    preferred_worker: headers["x-engine-preferred-worker"],
    required_worker: headers["x-engine-require-worker"],
    routing_input: routingHeader(call),
  };
}
