import { EngineError, invalidInput, notFound, type Route } from "@engine/contract";
import type { FastifyRequest } from "fastify";

/** The loose shape of `Parsed<Route>`: what a handler gets, before the row makes it exact. */
export interface RequestInput {
  params: Readonly<Record<string, unknown>>;
  query?: unknown;
  headers?: unknown;
  body?: unknown;
}

type Schema = NonNullable<Route["body"]>;
type Issue = Parameters<typeof invalidInput>[0]["issues"][number];

/** What parameters of paths name, as `details.resource` of a 404 has it; others name themselves. */
export type Resources = Readonly<Record<string, string>>;

/** Reads requests by their row; query, headers and body are checked together and refused as one. */
export function inputReader(
  route: Route,
  resources: Resources,
): (request: FastifyRequest) => RequestInput {
  const schemas = Object.entries(route.params ?? {});
  const names: ParamNames = { schemas, resourceOf: (param) => resourceOf(param, route, resources) };
  return (request) => requestInput(route, names, request);
}

interface ParamNames {
  readonly schemas: readonly (readonly [name: string, schema: Schema])[];
  readonly resourceOf: (param: string) => string;
}

function requestInput(route: Route, names: ParamNames, request: FastifyRequest): RequestInput {
  const input: RequestInput = { params: pathParams(names, request) };
  const issues: Issue[] = [];

  function read(part: "query" | "headers" | "body", schema: Schema, value: unknown): void {
    // A body may hold secrets, which an answer or a log must not repeat.
    const result = schema.safeParse(value, { reportInput: part !== "body" });
    if (result.success) input[part] = result.data;
    else for (const issue of result.error.issues) issues.push(at(part, issue));
  }

  const query = request.query as Query;
  for (const key in query) if (isUnstorable(key, query[key])) issues.push(unstorable(key));
  if (route.query) read("query", route.query, request.query);
  else {
    const keys = Object.keys(request.query as object);
    if (keys.length) {
      issues.push({ code: "unrecognized_keys", keys, path: ["query"], message: "", input: {} });
    }
  }
  if (route.headers) read("headers", route.headers, request.headers);
  // A route of lines reads and checks its body line by line.
  const hasBody = request.body !== undefined && request.body !== null;
  if (route.body && !route.lines) read("body", route.body, request.body ?? null);
  else if (hasBody) {
    throw new EngineError("bad_request", `${route.method} ${route.path} takes no body`);
  }
  if (issues.length) throw invalidInput({ issues });
  return input;
}

/**
 * The parameters of a path. A parameter that cannot be a name of anything is a 404, except for one
 * of a few fixed words, where a 400 lists the words (EXE-79).
 */
function pathParams(
  { schemas, resourceOf }: ParamNames,
  request: FastifyRequest,
): RequestInput["params"] {
  const params = request.params as Readonly<Record<string, string>>;
  for (const name in params) {
    const text = params[name] ?? "";
    if (text.includes(NUL)) throw notFound(resourceOf(name), JSON.stringify(text));
  }
  if (schemas.length === 0) return params;
  const read: Record<string, unknown> = { ...params };
  for (const [name, schema] of schemas) {
    const text = params[name] ?? "";
    const result = schema.safeParse(text);
    if (!result.success) {
      throw unknownChoice(name, text, result.error.issues[0]) ?? notFound(resourceOf(name), text);
    }
    read[name] = result.data;
  }
  return read;
}

function resourceOf(param: string, { path }: Route, resources: Resources): string {
  // `{name}` names what the segment before it lists, as in `/schedules/{name}`.
  const kind = /\/(\w+)s\/\{name\}/.exec(path)?.[1];
  return resources[param] ?? (param === "name" ? kind : undefined) ?? param;
}

function unknownChoice(
  name: string,
  text: string,
  issue: Issue | undefined,
): EngineError | undefined {
  if (issue?.code !== "invalid_value") return undefined;
  const allowed = issue.values.map(String);
  const message = `${name} must be one of ${allowed.join(", ")}; got "${text}"`;
  return new EngineError("bad_request", message, { details: { allowed } });
}

type Query = Readonly<Record<string, string | readonly string[]>>;

/** SQLite searches for a text with this character, PostgreSQL refuses it. */
const NUL = "\u0000";

function isUnstorable(key: string, value: Query[string] = ""): boolean {
  return key.includes(NUL) || [value].flat().some((one) => one.includes(NUL));
}

function unstorable(key: string): Issue {
  return {
    ...{ code: "custom", message: "expected text without the character U+0000", input: {} },
    path: ["query", key],
  };
}

/** Reads one line of a route of lines, by the row's `body`. */
export function lineInput(route: Route, value: unknown): unknown {
  const result = route.body?.safeParse(value);
  if (result?.success) return result.data;
  throw invalidInput({ issues: (result?.error.issues ?? []).map((issue) => at("body", issue)) });
}

function at(part: string, issue: Issue): Issue {
  return { ...issue, path: [part, ...issue.path] };
}
