import { EngineError } from "@engine/contract";
import type { Exchange } from "./exchange.ts";
import type { GatewayTarget } from "./gateway-path.ts";
import { crossOrigin, isPreflight, type OriginRule, preflightHeaders } from "./origin-rule.ts";

/** Where any page may ask; what is not for everybody is not shown to it all the same. */
const OPEN: ReadonlySet<GatewayTarget["kind"]> = new Set(["health", "openapi", "metadata"]);

/**
 * Keeps out what a browser sends for pages that may not, and lets those that may read the answer
 * (GW-15). Programs send no Origin, and are not asked for one.
 *
 * @param path Undefined where there is none.
 * @returns Whether the request has its answer already.
 * @throws EngineError `origin_denied`
 */
export function admitPage(
  { request, response }: Exchange,
  path: Pick<GatewayTarget, "kind" | "methods"> | undefined,
  rule: OriginRule,
): boolean {
  const { origin } = request.headers;
  if (origin === undefined) return false;
  const shared = path?.kind === "metadata" ? "*" : origin;
  if (shared !== "*" && !rule.allows(origin)) {
    if (path && OPEN.has(path.kind)) return false;
    throw denied(origin);
  }
  for (const [name, value] of Object.entries(crossOrigin(shared))) response.setHeader(name, value);
  if (!path || !isPreflight(request)) return false;
  response.writeHead(204, preflightHeaders(request, path.methods)).end();
  return true;
}

function denied(origin: string): EngineError {
  const message =
    "pages of this origin may not use the gateway: start it with --allow-origin to let them";
  return new EngineError("origin_denied", message, { details: { origin: origin.slice(0, 200) } });
}
