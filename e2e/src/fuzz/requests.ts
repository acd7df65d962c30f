/** Requests of the fuzz run: mostly right ones with a wrong part, some that are hardly HTTP. */
import { createHash } from "node:crypto";
import { type Route, routes, SESSION_HEADER } from "@engine/contract";
import type { Random } from "../harness/random.ts";
import { bodyOf, claimOf } from "./bodies.ts";
import { type Claim, type Known, oneOf } from "./known.ts";
import { anything, broken, mutated, word } from "./mutations.ts";

export interface Request {
  readonly method: string;
  /** As it stands in the request line. */
  readonly path: string;
  /** Names and values by turns; a name may come twice. */
  readonly headers: readonly string[];
  readonly body: Buffer | undefined;
}

/** Bytes that no client of HTTP would send. */
export interface RawRequest {
  readonly raw: Buffer;
}

interface Row {
  readonly id: string;
  readonly route: Route;
}

const ROWS: readonly Row[] = Object.entries(routes).flatMap(([group, rows]) =>
  Object.entries(rows).map(([name, route]) => ({ id: `${group}.${name}`, route })),
);
const METHODS = ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "FOO"];

type Mutation =
  | "param"
  | "query"
  | "header"
  | "body"
  | "text"
  | "method"
  | "path"
  | "raw"
  | "large";
/** By how often each is drawn. */
const MUTATIONS: readonly (readonly [Mutation | undefined, number])[] = [
  [undefined, 20],
  ["param", 12],
  ["query", 14],
  ["header", 10],
  ["body", 20],
  ["text", 7],
  ["method", 5],
  ["path", 6],
  ["raw", 5],
  ["large", 1],
];

export function requestOf(random: Random, known: Known): Request | RawRequest {
  const row = oneOf(random, ROWS);
  const mutation = drawn(random);
  const right = rightRequest(row, random, known, mutation);
  switch (mutation) {
    case "method":
      return { ...right, method: oneOf(random, METHODS) };
    case "path":
      return { ...right, path: oddPath(right.path, random) };
    case "header":
      return { ...right, headers: [...right.headers, ...oddHeaders(random)] };
    case "large":
      return { ...right, body: Buffer.alloc(random.between(1, 20) * 100_000, '"x') };
    case "raw":
      return rawRequest(right, random);
    default:
      return right;
  }
}

function drawn(random: Random): Mutation | undefined {
  let left = random.between(
    1,
    MUTATIONS.reduce((sum, [, weight]) => sum + weight, 0),
  );
  for (const [mutation, weight] of MUTATIONS) {
    left -= weight;
    if (left <= 0) return mutation;
  }
  return undefined;
}

function rightRequest(
  { id, route }: Row,
  random: Random,
  known: Known,
  mutation: Mutation | undefined,
): Request {
  const claim = claimOf(random, known);
  const params = paramsOf(id, random, known, claim);
  const names = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
  if (mutation === "param" && names.length > 0) params[oneOf(random, names)] = word(random);
  const path = route.path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(params[name] ?? word(random)),
  );
  const query = queryOf(route, random, claim, mutation === "query");
  const session = known.sessions.get(params["name"] ?? claim.worker) ?? "none";
  const headers = [
    ...(route.path.includes("/workers/") || route.path.startsWith("/checkpoint")
      ? [SESSION_HEADER, session]
      : []),
    ...startHeaders(route, random, known),
  ];
  if (route.body === undefined)
    return { method: route.method, path: path + query, headers, body: undefined };
  const value = bodyOf(id, random, known, claim);
  const text = `${JSON.stringify(mutation === "body" ? mutated(value, random) : value)}${route.lines ? "\n" : ""}`;
  const body = mutation === "text" ? broken(text, random) : Buffer.from(text);
  headers.push("content-type", route.lines ? "application/x-ndjson" : "application/json");
  return { method: route.method, path: path + query, headers, body };
}

function paramsOf(id: string, random: Random, known: Known, claim: Claim): Record<string, string> {
  const isProtocol = id.startsWith("workers.");
  const some = { id: claim.execution_id, workflow: oneOf(random, known.workflows) };
  const isStart = id.includes(".run") || random.next() < 0.1;
  const { id: execution, workflow } =
    isProtocol || isStart ? some : oneOf(random, known.executions, some);
  const name = isProtocol
    ? claim.worker
    : id.startsWith("schedules.")
      ? oneOf(random, known.schedules)
      : id === "executions.signal"
        ? "paid"
        : oneOf(random, known.workers);
  const sha256 = createHash("sha256").update('{"a":1}').digest("hex");
  return {
    ...{ ns: "default", wf: workflow, workflow_name: workflow, name, sha256, hash: sha256 },
    ...{ id: execution, execution_id: execution, mode: oneOf(random, ["sync", "async", "stream"]) },
    ...{ seq: String(random.between(1, 4)), version: "1" },
  };
}

function startHeaders(route: Route, random: Random, known: Known): string[] {
  if (!route.headers || !("idempotency-key" in route.headers.shape)) return [];
  return [
    // Workers of the fuzz run get something to tell of.
    ...(random.next() < 0.3 ? ["x-engine-require-worker", oneOf(random, known.workers)] : []),
    ...(random.next() < 0.1 ? ["idempotency-key", `k${random.between(0, 9)}`] : []),
  ];
}

const GOOD_VALUES: Readonly<Record<string, readonly string[]>> = {
  limit: ["1", "50"],
  offset: ["0", "3"],
  order: ["created_asc", "created_desc"],
  state: ["RUNNING", "paused"],
  detailed: ["true", "false"],
  timeout: ["0.2", "1"],
  mode: ["sync", "async", "stream"],
  events: ["all"],
  after: ["0", "2"],
  generation: ["1"],
  inspect: ["true"],
  source: ["true"],
  dry_run: ["true", "false"],
  type: ["WORKFLOW_CREATED"],
  priority: ["-10", "10"],
};

function queryOf(route: Route, random: Random, claim: Claim, isOdd: boolean): string {
  const keys = Object.keys(route.query?.shape ?? {});
  const pairs: [string, string][] = keys
    .filter((key) => key === "generation" || (key in GOOD_VALUES && random.next() < 0.3))
    .map((key) => [
      key,
      key === "generation" ? String(claim.generation) : oneOf(random, GOOD_VALUES[key] ?? ["1"]),
    ]);
  if (isOdd) {
    const key = random.next() < 0.85 && keys.length > 0 ? oneOf(random, keys) : word(random);
    pairs.push([key, word(random)]);
    if (random.next() < 0.2) pairs.push([key, word(random)]);
  }
  const text = pairs
    .map(([key, value]) => `${encodeURIComponent(key)}=${encodeURIComponent(value)}`)
    .join("&");
  const junk =
    isOdd && random.next() < 0.1 ? oneOf(random, ["&&=", "&%zz=%", "&a[b]=1", "&=x"]) : "";
  return text || junk ? `?${text}${junk}` : "";
}

/** Only what a client of HTTP lets through; the rest goes as raw bytes. */
function oddPath(path: string, random: Random): string {
  const segments = path.split("/");
  const at = random.between(1, segments.length - 1);
  const odd = [
    "",
    ".",
    "..",
    "%2e%2e",
    "%2f",
    "%00",
    "%zz",
    "%",
    "%ff",
    ";a=1",
    "\u00e9",
    "*",
    "x".repeat(2100),
  ];
  switch (random.between(0, 4)) {
    case 0:
      return segments.with(at, oneOf(random, odd)).join("/");
    case 1:
      return segments.toSpliced(at, 0, oneOf(random, odd)).join("/");
    case 2:
      return `${path}/`;
    case 3:
      return path.toUpperCase();
    default:
      return `//evil.test${path}`;
  }
}

function oddHeaders(random: Random): string[] {
  return oneOf<string[]>(random, [
    [
      "content-type",
      oneOf(random, ["text/plain", "application/json; charset=utf-16", "x", "multipart/form-data"]),
    ],
    ["content-encoding", oneOf(random, ["gzip", "br", "identity", "x"])],
    ["idempotency-key", oneOf(random, ["", "x".repeat(256), "\u00e9", "a\tb"])],
    ["last-event-id", oneOf(random, ["-1", "x", "1.5", "9".repeat(20), ""])],
    ["host", oneOf(random, ["evil.test", "", "localhost:1:2", "[::1"])],
    ["origin", oneOf(random, ["http://evil.test", "null", "x"])],
    ["sec-fetch-site", "cross-site"],
    [SESSION_HEADER, oneOf(random, ["", "x".repeat(500), "a, b"])],
    ["x-engine-worker", oneOf(random, ["", "fw-1", "\u00e9"])],
    ["x-engine-require-worker", oneOf(random, ["", "a b", "x".repeat(200)])],
    ["accept", "text/event-stream"],
    ["expect", oneOf(random, ["100-continue", "x"])],
    ["range", "bytes=0-1"],
    ["if-none-match", "*"],
    ["upgrade", "websocket", "connection", "upgrade"],
    ["x-http-method-override", "DELETE"],
    ["x-long", "x".repeat(random.between(1, 20_000))],
    [word(random).replace(/[^\w-]/g, "") || "x", "1"],
  ]);
}

function rawRequest({ method, path, headers, body }: Request, random: Random): RawRequest {
  const text = body?.toString() ?? "";
  const lines = (extra: readonly string[]) =>
    [`${method} ${path} HTTP/1.1`, "host: 127.0.0.1", "connection: close", ...extra, "", text].join(
      "\r\n",
    );
  const pairs: string[] = [];
  for (let i = 0; i < headers.length; i += 2) pairs.push(`${headers[i]}: ${headers[i + 1]}`);
  const length = `content-length: ${Buffer.byteLength(text)}`;
  const all: readonly (() => string | Buffer)[] = [
    () => lines([...pairs, length, length]),
    () => lines([...pairs, `content-length: ${Buffer.byteLength(text) + 5}`]),
    () => lines([...pairs, "content-length: -1"]),
    () => lines([...pairs, length, "transfer-encoding: chunked"]),
    () => lines([...pairs, "transfer-encoding: chunked"]),
    () => lines([...pairs, length, "host: evil.test"]),
    () => lines([...pairs, length, "bad header", ": empty"]),
    () => lines([...pairs, length, `x: ${word(random)}`]),
    () => `${method} ${path} HTTP/9.9\r\n\r\n`,
    () => `${method} ${path.replaceAll("/", " ")} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`,
    () => `GET http://127.0.0.1${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n`,
    () => `${method} /\u65e5\u672c HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n`,
    () => `${method} ${path}`,
    () => `GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`.repeat(20) + lines([...pairs, length]),
    () => JSON.stringify(anything(random)),
    () => Buffer.from(Array.from({ length: random.between(1, 400) }, () => random.between(0, 255))),
  ];
  return { raw: Buffer.from(oneOf(random, all)()) };
}
