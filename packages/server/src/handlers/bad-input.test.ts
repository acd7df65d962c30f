/* What a request may get wrong: a coded error, nothing changed, nothing told of the engine's inside. */
import { createHash } from "node:crypto";
import { request } from "node:http";
import {
  type Assignment,
  Config,
  type ErrorBody,
  type Json,
  type NewEvent,
  SESSION_HEADER,
} from "@engine/contract";
import { openSqliteStore } from "@engine/store";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Server, startServer } from "../server.ts";
import { registration, ScriptedWorker } from "../testing/scripted-worker.ts";
import { HELLO, hello, silent } from "../testing/start-engine.ts";

const MIB = 1024 * 1024;
const FIRST_PROCESS = "01900000-0000-7000-8000-000000000001";
const process = (n: number) => `01900000-0000-7000-8000-00000000010${n}`;

/** A server with an execution of `owner`, another worker, and a name that processes fight over. */
interface Scene {
  readonly server: Server;
  readonly assigned: Assignment;
  readonly owner: ScriptedWorker;
  readonly other: ScriptedWorker;
  /** The session of a process that was replaced. */
  readonly superseded: ScriptedWorker;
  close(): Promise<void>;
}

/** What a run may send at most, and the largest value. */
const MAX_VALUE = 1024;

let scene: Scene;

beforeAll(async () => {
  const store = await openSqliteStore({ path: ":memory:", synchronous: "normal", clock: Date.now });
  // A session may be silent for as long as this file takes.
  const config = Config.parse({
    server: { port: 0 },
    executions: { max_value_bytes: MAX_VALUE },
    workers: { silence_timeout: 3600, heartbeat_interval: 600 },
  });
  const server = await startServer({ config, store, log: silent, version: "0" });
  await server.engine.catalog.register({ source: HELLO }, { by: null });
  const worker = async (name: string, instance_id = FIRST_PROCESS) => {
    const one = new ScriptedWorker(name, server.workers, Date.now);
    await one.register({ instance_id });
    await one.connect();
    return one;
  };
  const owner = await worker("owner");
  await server.engine.executions.start(hello());
  const assigned = await owner.next("assign");
  await owner.started(assigned);
  const other = await worker("other");
  const superseded = await worker("fought", process(0));
  for (let n = 1; n <= 3; n++) await worker("fought", process(n));
  const close = async () => {
    await server.close();
    await store.close();
  };
  scene = { server, assigned, owner, other, superseded, close };
});

afterAll(() => scene.close());

interface Answer {
  readonly status: number;
  readonly text: string;
}

interface Asked {
  readonly method?: "GET" | "PUT";
  readonly path: string;
  readonly session?: string | undefined;
  readonly body?: Json;
  readonly headers?: Record<string, string>;
}

/** By node's own client: it may say of a body what is not true. */
function ask({ method, path, session, body, headers = {} }: Asked): Promise<Answer> {
  const text = body === undefined ? "" : JSON.stringify(body);
  const all = {
    ...(body !== undefined && { "content-type": "application/json" }),
    ...(session !== undefined && { [SESSION_HEADER]: session }),
    ...headers,
  };
  return new Promise((resolve, reject) => {
    const verb = method ?? "POST";
    const sent = request(scene.server.url + path, { method: verb, headers: all }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () => {
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() });
        sent.destroy();
      });
    });
    sent.on("error", reject);
    sent.end(text);
  });
}

/** Everything that a request could have changed, as reads show it. */
async function everything(): Promise<unknown> {
  const paths = [
    `/executions/${scene.assigned.execution_id}?detailed=true`,
    "/executions",
    "/workflows",
    "/schedules",
    "/hooks",
    "/workers",
  ];
  const read = await Promise.all(paths.map((path) => ask({ method: "GET", path })));
  // Every request of a worker says that it lives: that may be noted.
  return read.map(({ text }) => text.replace(/"last_seen_at":"[^"]*"/g, ""));
}

/** A stack, a file, a statement, or what the engine is built of. */
const INSIDE =
  /\bat \S+ \(|file:|node_modules|\/packages\/|\.[jt]s\b|\b(SELECT|INSERT INTO|UPDATE [a-z_]+ SET|DELETE FROM)\b|sqlite|fastify|zod/i;

async function refuses(asked: Asked): Promise<ErrorBody["error"] & { status: number }> {
  const before = await everything();
  const { status, text } = await ask(asked);
  expect(text).not.toMatch(INSIDE);
  const body = JSON.parse(text) as ErrorBody;
  expect(Object.keys(body)).toEqual(["error"]);
  expect(await everything()).toEqual(before);
  return { status, ...body.error };
}

function pathsOf({ details }: ErrorBody["error"]): string[] {
  return ((details?.["issues"] ?? []) as { path: string }[]).map(({ path }) => path);
}

const beat = { running: [], slots_free: 1 };

type Row = [what: string, asked: () => Asked, status: number, code: string, details?: object];

test.each<Row>([
  ["no session", () => ({ path: "/workers/owner/heartbeat", body: beat }), 409, "session_unknown"],
  [
    "an unknown session",
    () => ({ path: "/workers/owner/heartbeat", body: beat, session: "guess" }),
    409,
    "session_unknown",
  ],
  [
    "a connect of an unknown session",
    () => ({ path: "/workers/owner/connect", body: { running: [] }, session: "guess" }),
    409,
    "session_unknown",
  ],
  [
    "a superseded session",
    () => ({
      path: "/workers/fought/heartbeat",
      body: beat,
      session: scene.superseded.ref.session,
    }),
    409,
    "session_superseded",
    { host: "here", pid: 1 },
  ],
  [
    "the session of another name",
    () => ({ path: "/workers/other/poll", body: beat, session: scene.owner.ref.session }),
    403,
    "permission_denied",
  ],
  [
    "a name that processes fight over",
    () => ({
      path: "/workers/register",
      body: registration("fought", { instance_id: process(4) }) as Json,
    }),
    409,
    "worker_name_in_use",
  ],
  [
    "another protocol",
    () => ({ path: "/workers/register", body: registration("w", { protocol: 99 }) as Json }),
    409,
    "incompatible_worker",
    { supported: [2, 1] },
  ],
  [
    "other labels of the same process",
    () => ({
      path: "/workers/register",
      body: registration("owner", { labels: { zone: "eu" } }) as Json,
    }),
    409,
    "labels_immutable",
  ],
])("WRK-3 WRK-4 %s is refused", async (_, asked, status, code, details) => {
  const refused = await refuses(asked());
  expect(refused).toMatchObject({ status, code });
  if (details) expect(refused.details).toMatchObject(details);
});

/** A checkpoint of the owner's execution, wrong in one way. */
function checkpoint(
  changes: Readonly<Record<string, Json>>,
  { worker, session } = scene.owner.ref,
): Asked {
  const { assigned, owner } = scene;
  const events: NewEvent[] = [owner.event(assigned, "WORKFLOW_COMPLETED", 1)];
  const body = { generation: 1, base_seq: 3, state: "COMPLETED", events, ...changes };
  const headers = { "x-engine-worker": worker };
  const path = `/checkpoint/${assigned.execution_id}`;
  return { path, session, headers, body: body as unknown as Json };
}

test.each<Row>([
  [
    "an unknown generation",
    () => checkpoint({ generation: 7 }),
    409,
    "stale_claim",
    { state: "RUNNING", generation: 1 },
  ],
  ["a gap in base_seq", () => checkpoint({ base_seq: 9 }), 409, "seq_gap", { head: 3 }],
  [
    "somebody else's execution",
    () => checkpoint({}, scene.other.ref),
    409,
    "stale_claim",
    { state: "RUNNING", generation: 1 },
  ],
  [
    "an execution that does not exist",
    () => ({ ...checkpoint({}), path: "/checkpoint/nobody" }),
    404,
    "not_found",
    { resource: "execution" },
  ],
  [
    "a state that its events do not give",
    () => checkpoint({ state: "FAILED" }),
    422,
    "invalid_input",
  ],
  [
    "a header that names another worker than the session's",
    () => ({ ...checkpoint({}), headers: { "x-engine-worker": "other" } }),
    403,
    "permission_denied",
  ],
  [
    "a session that nobody has, and no header that names a worker",
    () => ({ ...checkpoint({}), session: "nobody", headers: {} }),
    409,
    "session_unknown",
  ],
  [
    "no events field",
    () => checkpoint({ events: null }),
    422,
    "invalid_input",
    { issues: [{ path: "body.events" }] },
  ],
])("CKP-1 CKP-2 CKP-3 a checkpoint with %s is refused", async (_, asked, status, code, details) => {
  const refused = await refuses(asked());
  expect(refused).toMatchObject({ status, code });
  if (details) expect(refused.details).toMatchObject(details);
});

test("CKP-5 a batch answers each wrong item with its own error, and writes none of them", async () => {
  const before = await everything();
  const { assigned, owner } = scene;
  const events = [owner.event(assigned, "WORKFLOW_COMPLETED", 1)];
  const item = { execution_id: assigned.execution_id, state: "COMPLETED", events };
  const items = [
    { ...item, generation: 7, base_seq: 3 },
    { ...item, execution_id: "nobody", generation: 1, base_seq: 3 },
  ];
  const { session } = owner.ref;
  const body = { items } as unknown as Json;
  const answer = await ask({ path: "/workers/owner/checkpoints", session, body });
  expect(answer.status).toBe(200);
  expect(answer.text).not.toMatch(INSIDE);
  expect(JSON.parse(answer.text)).toMatchObject({
    items: [{ error: { code: "stale_claim" } }, { error: { code: "not_found" } }],
  });
  expect(await everything()).toEqual(before);
});

test.each<[string, () => Asked, string]>([
  [
    "more than 256 checkpoints",
    () => ({
      path: "/workers/owner/checkpoints",
      body: { items: Array.from({ length: 257 }, () => checkpoint({}).body ?? null) },
    }),
    "body.items",
  ],
  [
    "more than 256 releases",
    () => ({
      path: "/workers/owner/release",
      body: {
        items: Array.from({ length: 257 }, (_, n) => ({
          execution_id: `e${n}`,
          generation: 1,
          reason: "draining",
        })),
      },
    }),
    "body.items",
  ],
  [
    "more than 100 progress values",
    () => ({
      path: `/workers/owner/progress/${scene.assigned.execution_id}`,
      body: {
        generation: 1,
        items: Array.from({ length: 101 }, () => ({
          source_id: "t~1",
          name: "t",
          value: 1,
          time: "now",
        })),
      },
    }),
    "body.items",
  ],
  [
    "a page of more than 1,000 events",
    () => ({
      method: "GET",
      path: `/workers/owner/executions/${scene.assigned.execution_id}/events?generation=1&limit=1001`,
    }),
    "query.limit",
  ],
  [
    "a poll that waits for longer than 30 seconds",
    () => ({ path: "/workers/owner/poll", body: { ...beat, wait_seconds: 31 } }),
    "body.wait_seconds",
  ],
  [
    "WMD-5 a heartbeat with more than 64 metrics",
    () => ({
      path: "/workers/owner/heartbeat",
      body: {
        ...beat,
        metrics: Object.fromEntries(Array.from({ length: 65 }, (_, n) => [`m${n}`, n])),
      },
    }),
    "body.metrics",
  ],
  [
    "WMD-5 a heartbeat with a metric that is no number",
    () => ({ path: "/workers/owner/heartbeat", body: { ...beat, metrics: { depth: null } } }),
    "body.metrics.depth",
  ],
])("WRK-6 %s is refused as a whole", async (_, asked, path) => {
  const refused = await refuses({ ...asked(), session: scene.owner.ref.session });
  expect(refused).toMatchObject({ status: 422, code: "invalid_input" });
  expect(pathsOf(refused)).toContain(path);
});

test.each<[string, string, "GET" | "PUT" | "POST", Json | undefined]>([
  ["its log", "events?generation=7", "GET", undefined],
  ["a value", `values/${"0".repeat(64)}?generation=7`, "GET", undefined],
  [
    "the task cache",
    "cache",
    "POST",
    { generation: 7, task: "t", version: "1", digest: "0".repeat(64) },
  ],
])("CKP-2 under an unknown generation %s is not given", async (_, path, method, body) => {
  const { execution_id } = scene.assigned;
  const { session } = scene.owner.ref;
  const refused = await refuses({
    ...(method !== "POST" && { method }),
    path: `/workers/owner/executions/${execution_id}/${path}`,
    session,
    ...(body !== undefined && { body }),
  });
  expect(refused).toMatchObject({ status: 409, code: "stale_claim" });
});

test.each<[string, () => Asked, number]>([
  ["a registration", () => ({ path: "/workers/register" }), MIB],
  ["a heartbeat", () => ({ path: "/workers/owner/heartbeat" }), MIB],
  ["a checkpoint", () => checkpoint({}), 64 * MIB],
  ["a run", () => ({ path: "/workflows/hello/run/async" }), MAX_VALUE],
  ["a file of workflows", () => ({ path: "/workflows" }), 8 * MIB],
  ["a schedule", () => ({ path: "/schedules" }), MIB],
  ["a hook", () => ({ path: "/hooks" }), MIB],
])(
  "NET-1 %s with a body that is declared too large is refused before it is read",
  async (...row) => {
    const [, asked, limit_bytes] = row;
    const { body: _, headers, ...rest } = asked();
    const declared = { "content-type": "application/json", "content-length": `${limit_bytes + 1}` };
    const refused = await refuses({ ...rest, headers: { ...headers, ...declared } });
    expect(refused).toMatchObject({
      status: 413,
      code: "payload_too_large",
      details: { limit_bytes },
    });
  },
);

test("NET-1 a body that turns out too large as it comes is refused, too", async () => {
  const body = { ...registration("w"), host: "x".repeat(MIB) } as unknown as Json;
  const headers = { "transfer-encoding": "chunked" };
  expect(await refuses({ path: "/workers/register", body, headers })).toMatchObject({
    status: 413,
    code: "payload_too_large",
    details: { limit_bytes: MIB },
  });
});

test("EXE-49 a value above max_value_bytes is not kept", async () => {
  const { assigned, owner } = scene;
  const text = JSON.stringify("x".repeat(2_000));
  const sha256 = createHash("sha256").update(text).digest("hex");
  const path = `/workers/owner/executions/${assigned.execution_id}/values/${sha256}?generation=1`;
  const { session } = owner.ref;
  const refused = await refuses({ method: "PUT", path, session, body: { text } });
  expect(refused).toMatchObject({
    status: 413,
    code: "payload_too_large",
    details: { limit_bytes: 1024 },
  });
});

const nightly = { name: "nightly", workflow: "hello" };

test.each<[string, Json, string[]]>([
  ["no cron", { type: "cron", expression: "every night" }, ["body.spec.expression"]],
  [
    "an hour that does not exist",
    { type: "cron", expression: "0 25 * * *" },
    ["body.spec.expression"],
  ],
  [
    "an unknown zone",
    { type: "cron", expression: "0 2 * * *", timezone: "Mars/Olympus" },
    ["body.spec.timezone"],
  ],
  ["an instant in the past", { type: "once", at: "2020-01-01T00:00:00Z" }, ["body.spec.at"]],
  ["an instant that is none", { type: "once", at: "tomorrow" }, ["body.spec.at"]],
])("EXE-74 a schedule for %s is refused and saves nothing", async (_, spec, paths) => {
  const refused = await refuses({ path: "/schedules", body: { ...nightly, spec } });
  expect(refused).toMatchObject({ status: 422, code: "invalid_schedule" });
  expect(pathsOf(refused)).toEqual(paths);
});

const page = {
  ...{ name: "page", workflow: "hello", principal: "bot" },
  selectors: ["execution:*"],
};

test.each<[string, Record<string, unknown>, string[]]>([
  ["a name in capitals", { name: "Page" }, ["body.name"]],
  ["a name that is reserved", { name: "deliveries" }, ["body.name"]],
  ["no selectors", { selectors: [] }, ["body.selectors"]],
  ["65 selectors", { selectors: Array(65).fill("task:*") }, ["body.selectors"]],
  ["a selector that is too long", { selectors: ["x".repeat(513)] }, ["body.selectors[0]"]],
  ["a workflow that is none", { workflow: "a/b/c" }, ["body.workflow"]],
  ["a principal that is no subject", { principal: "a/b" }, ["body.principal"]],
  ["no principal", { principal: null }, ["body.principal"]],
  ["101 tries", { max_attempts: 101 }, ["body.max_attempts"]],
  ["half a try", { max_attempts: 0.5 }, ["body.max_attempts"]],
  ["an action", { action: "run" }, ["body.action"]],
  ["an address", { url: "http://example.com" }, ["body.url"]],
  ["an owner", { owner_type: "agent" }, ["body.owner_type"]],
])("HOOK-1 HOOK-38 a hook with %s is refused and saves nothing", async (_, changes, paths) => {
  const refused = await refuses({ path: "/hooks", body: { ...page, ...changes } as Json });
  expect(refused).toMatchObject({ status: 422, code: "invalid_input" });
  expect(pathsOf(refused)).toEqual(paths);
});

test.each<[string, string[]]>([
  ["/hooks?limit=1001", ["query.limit"]],
  ["/hooks?enabled_only=yes", ["query.enabled_only"]],
  ["/hooks?owner_type=nobody", ["query.owner_type"]],
  ["/hooks/page/deliveries?limit=201", ["query.limit"]],
  ["/hooks/page/deliveries?status=lost", ["query.status"]],
  ["/hooks/page/deliveries?before=first", ["query.before"]],
  [`/hooks/page/deliveries?offset=1&before=${FIRST_PROCESS}`, ["query.offset"]],
])("HOOK-36 GET %s is refused", async (path, paths) => {
  const refused = await refuses({ method: "GET", path });
  expect(refused).toMatchObject({ status: 422, code: "invalid_input" });
  expect(pathsOf(refused)).toEqual(paths);
});

test.each<[string, Record<string, unknown>, string[]]>([
  ["a name that is none", { name: "a b" }, ["body.name"]],
  ["the name local", { name: "local" }, ["body.name"]],
  ["the name join-tokens", { name: "join-tokens" }, ["body.name"]],
  ["an instance_id of another kind", { instance_id: crypto.randomUUID() }, ["body.instance_id"]],
  ["a protocol that is no number", { protocol: "1" }, ["body.protocol"]],
  ["a field that is not known", { colour: "red" }, ["body.colour"]],
  [
    "a field of runtime that is not known",
    { runtime: { os: "linux", arch: "x64", node: "24", bun: 1 } },
    ["body.runtime.bun"],
  ],
  ["no host", { host: undefined }, ["body.host"]],
  ["a label without a key", { labels: { "": "x" } }, ["body.labels."]],
  ["a label key that ends in a dot", { labels: { "a.": "x" } }, ["body.labels.a."]],
  ["a label without a value", { labels: { a: "" } }, ["body.labels.a"]],
  ["a label with a control character", { labels: { a: "x\u0000" } }, ["body.labels.a"]],
  ["a label that is no text", { labels: { a: 1 } }, ["body.labels.a"]],
  [
    "65 labels",
    { labels: Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`k${i}`, "v"])) },
    ["body.labels"],
  ],
  ["slots below none", { slots: -1 }, ["body.slots"]],
  ["half a slot", { slots: 0.5 }, ["body.slots"]],
  ["no runner", { runners: [] }, ["body.runners"]],
  ["an unknown runner", { runners: ["thread", "rocket"] }, ["body.runners[1]"]],
  [
    "a default runner that it does not have",
    { default_runner: "process" },
    ["body.default_runner"],
  ],
  [
    "resources in part",
    { resources: { cpu_total: 1 } },
    [
      "body.resources.cpu_available",
      "body.resources.memory_total",
      "body.resources.memory_available",
      "body.resources.disk_total",
      "body.resources.disk_free",
    ],
  ],
  ["a package without a version", { packages: [{ name: "zod" }] }, ["body.packages[0].version"]],
  [
    "2,001 packages",
    { packages: Array.from({ length: 2_001 }, () => ({ name: "a", version: "1.0.0" })) },
    ["body.packages"],
  ],
  ["a service in capitals", { services: ["Redis"] }, ["body.services[0]"]],
  ["a service with a long name", { services: ["a".repeat(33)] }, ["body.services[0]"]],
])("WRK-2 a registration with %s names the field, and no worker is there", async (...row) => {
  const [, changes, paths] = row;
  const body = { ...registration("fresh"), ...changes } as unknown as Json;
  const refused = await refuses({ path: "/workers/register", body });
  expect(refused).toMatchObject({ status: 422, code: "invalid_input" });
  expect(pathsOf(refused)).toEqual(paths);
});

test("WRK-2 WRK-5 a label of the engine's own is refused, whoever made the request", async () => {
  const labels = { "engine.service.inference": "true" };
  const body = registration("fresh", { labels }) as unknown as Json;
  const refused = await refuses({ path: "/workers/register", body });
  expect(refused).toMatchObject({ status: 422, code: "reserved_label" });
  expect(pathsOf(refused)).toEqual(["body.labels.engine.service.inference"]);
});
