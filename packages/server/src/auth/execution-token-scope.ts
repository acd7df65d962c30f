/** What an execution token reaches, whatever its principal holds (AUTH-44). */
import type { Route } from "@engine/contract";

/** Of which executions: of the token's own, of those that descend from it, of none that is there yet. */
export type Reach = "self" | "self_or_child" | "child" | "start";

const workflow = "/workflows/{ns}/{wf}";

const REACH: Readonly<Record<string, Reach>> = {
  "GET /executions/{id}": "self_or_child",
  "GET /executions/{id}/approvals": "self",
  "GET /executions/{id}/approvals/{call}": "self",
  [`POST ${workflow}/run/{mode}`]: "start",
  [`GET ${workflow}/status/{id}`]: "child",
  [`POST ${workflow}/resume/{id}`]: "child",
  [`POST ${workflow}/resume/{id}/{mode}`]: "child",
  [`POST ${workflow}/cancel/{id}`]: "child",
};

/** Undefined for a route that no execution token reaches. */
export function reachOf({ method, path }: Pick<Route, "method" | "path">): Reach | undefined {
  return Object.hasOwn(REACH, `${method} ${path}`) ? REACH[`${method} ${path}`] : undefined;
}
