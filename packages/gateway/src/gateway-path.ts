import { EngineError, isName, notFound, type Route, RunMode, routes } from "@engine/contract";

/** Rows of the table that are served below a service; the gateway has them at the root as well. */
const CALLS = ["run", "runMode", "resume", "resumeMode", "status", "stream"] as const;
export type CallRow = (typeof CALLS)[number];

/** A request that is passed on to the server (GW-1 to GW-4). */
export interface ServiceCall {
  readonly kind: "call";
  readonly row: CallRow;
  /** How the answer comes: whether the server first waits for the execution, and as what. */
  readonly manner: RunMode | "status" | "follow";
  readonly workflow: string;
  readonly execution_id: string | undefined;
  /** On the server, without a query: only characters that stand for themselves. */
  readonly path: string;
  /** As logs name it. */
  readonly route: string;
  readonly methods: readonly string[];
}

/** What the gateway answers itself, or by what only it knows of its service (GW-5 to GW-8). */
export interface OwnRoute {
  readonly kind: "health" | "openapi" | "mcp" | "metadata";
  readonly route: string;
  readonly methods: readonly string[];
}

export type GatewayTarget = ServiceCall | OwnRoute;

const READ: readonly string[] = ["GET", "HEAD"];
const OWN_ROUTES: readonly OwnRoute[] = [
  { kind: "health", route: "/health", methods: READ },
  { kind: "openapi", route: "/openapi.json", methods: READ },
  { kind: "mcp", route: "/mcp", methods: ["DELETE", "GET", "POST"] },
  { kind: "metadata", route: "/.well-known/oauth-protected-resource", methods: READ },
  { kind: "metadata", route: "/.well-known/oauth-protected-resource/mcp", methods: READ },
];

/** First segments that name no workflow (GW-9). */
const RESERVED: ReadonlySet<string> = new Set([
  ...OWN_ROUTES.map(({ route }) => segmentsOf(route)[0] ?? ""),
  "services",
]);

const EXECUTION_ID = /^[A-Za-z0-9-]{1,64}$/;
const SERVICE_PREFIX = "/services/{service}";

/** A row's segments behind the service. */
interface Pattern {
  readonly row: CallRow;
  readonly route: Route;
  readonly segments: readonly string[];
}

const PATTERNS: readonly Pattern[] = CALLS.map((row) => {
  const route: Route = routes.services[row];
  return { row, route, segments: segmentsOf(route.path.slice(SERVICE_PREFIX.length)) };
});

/** Whether a workflow of this name is reachable below `/services/…` only (GW-9). */
export function isReserved(name: string): boolean {
  return RESERVED.has(name);
}

/**
 * What a request asks for, by its method and the target of its first line. Nothing of it is taken
 * over that has not been read: the path on the server is put together anew.
 *
 * @throws EngineError `not_found`, `method_not_allowed`, or `bad_request` for an unknown mode.
 */
export function readTarget(method: string, url: string, service: string): GatewayTarget {
  const found = findTarget(url, service);
  if (!found.methods.includes(method)) throw otherMethod(method, found);
  if (found.kind !== "call") return found;
  const { mode, ...call } = found;
  return { ...call, manner: mannerOf(call.row, mode) };
}

/** What a path is, whatever is asked of it; undefined where it is none. */
export function lookUp(
  url: string,
  service: string,
): Pick<GatewayTarget, "kind" | "methods"> | undefined {
  try {
    return findTarget(url, service);
  } catch {
    return undefined;
  }
}

/** A call whose mode has not been looked at. */
type FoundCall = Omit<ServiceCall, "manner"> & { readonly mode: string | undefined };

function findTarget(url: string, service: string): OwnRoute | FoundCall {
  const segments = decodedSegments(url);
  const own = OWN_ROUTES.find(({ route }) => isSame(segmentsOf(route), segments));
  if (own) return own;
  const [first = "", named, ...below] = segments;
  if (!isReserved(first)) return foundCall(segments, service);
  // There the server has its MCP endpoint; a workflow of that name runs under `mcp/sync` (GW-9).
  const isMcp = below.length === 1 && below[0] === "mcp";
  if (first !== "services" || named !== service || isMcp) throw noPath();
  return foundCall(below, service);
}

function foundCall(segments: readonly string[], service: string): FoundCall {
  const pattern = PATTERNS.find((known) => fits(known.segments, segments));
  if (!pattern) throw noPath();
  const segmentOf = (param: string) => segments[pattern.segments.indexOf(`{${param}}`)];
  const workflow = segmentOf("workflow") ?? "";
  const execution_id = segmentOf("execution_id");
  if (!isName(workflow)) throw notFound("workflow", "of this name");
  if (execution_id !== undefined && !EXECUTION_ID.test(execution_id)) {
    throw notFound("execution", "of this id");
  }
  const { method } = pattern.route;
  return {
    kind: "call",
    row: pattern.row,
    mode: segmentOf("mode"),
    workflow,
    execution_id,
    path: `/services/${service}/${segments.join("/")}`,
    route: `/${pattern.segments.join("/")}`,
    methods: method === "GET" ? READ : [method],
  };
}

function mannerOf(row: CallRow, mode: string | undefined): ServiceCall["manner"] {
  if (row === "status") return "status";
  if (row === "stream") return "follow";
  const read = RunMode.safeParse(mode ?? "sync");
  if (!read.success) throw unknownMode(mode ?? "");
  return read.data;
}

function fits(pattern: readonly string[], segments: readonly string[]): boolean {
  if (pattern.length !== segments.length) return false;
  return pattern.every((part, i) =>
    part.startsWith("{") ? segments[i] !== "" : part === segments[i],
  );
}

/** Each is decoded once, so that none can hold what would be read as a path later. */
function decodedSegments(url: string): readonly string[] {
  const [path = ""] = url.split("?", 1);
  if (!path.startsWith("/")) throw noPath();
  try {
    return segmentsOf(path).map((segment) => decodeURIComponent(segment));
  } catch {
    throw noPath();
  }
}

function segmentsOf(path: string): readonly string[] {
  return path.slice(1).split("/");
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((segment, i) => segment === other[i]);
}

function noPath(): EngineError {
  return new EngineError("not_found", "no such path; GET /openapi.json lists all", {
    details: { resource: "route" },
  });
}

function otherMethod(method: string, { route, methods }: OwnRoute | FoundCall): EngineError {
  const message = `${route} does not take ${method}; it takes ${methods.join(", ")}`;
  return new EngineError("method_not_allowed", message, { details: { allow: methods } });
}

/** Worded as the server does. */
function unknownMode(given: string): EngineError {
  const allowed = RunMode.options;
  const message = `mode must be one of ${allowed.join(", ")}; got ${JSON.stringify(given)}`;
  return new EngineError("bad_request", message, { details: { allowed } });
}
