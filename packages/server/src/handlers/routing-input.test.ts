import { request } from "node:http";
import { Config, type RoutingInputFault, routingHeaderText } from "@engine/contract";
import { type KeyRing, readKeyRing } from "@engine/store";
import { expect, test } from "vitest";
import { accountOf } from "../auth/testing/asking.ts";
import { readRouting } from "../starts/stored-routing.ts";
import { type McpServer, mcpServer } from "./testing/mcp-server.ts";

const OFF = { auth: { enabled: false } };
const GIVEN = { dataset: "berlin", shard: { of: 7, "ключ 1": "ü" }, spare: null, hot: true };
const RUN = "/workflows/shop/invoice/run/async";
const DAILY = { spec: { type: "cron", expression: "0 0 * * *", timezone: "UTC" } };
const SCHEDULE = { name: "nightly", namespace: "shop", workflow: "invoice", ...DAILY };
const CENTS = { cents: 5 };

/** What this test looks at, of any answer. */
interface Answer {
  readonly execution_id: string;
  readonly error: { readonly code: string; readonly details: object };
}

interface Sent {
  readonly method?: string;
  /** Values of the header, each in a line of its own. */
  readonly routing?: readonly string[];
  readonly body?: unknown;
  readonly token?: string | undefined;
}

/** A request whose lines are as they are given: `fetch` would join those of one name. */
function send(t: McpServer, path: string, { method = "POST", routing = [], body, token }: Sent) {
  const given = token ?? t.adminKey;
  const lines = [
    ...(given === undefined ? [] : [["authorization", `Bearer ${given}`]]),
    ["content-type", "application/json"],
    ...routing.map((value, i) => [
      i % 2 ? "x-engine-routing-input" : "X-Engine-Routing-Input",
      value,
    ]),
  ];
  return new Promise<{ status: number; text: string; json: Answer }>((resolve, reject) => {
    const { host } = new URL(t.server.url);
    const headers = [["host", host], ...lines].flat() as never;
    const asked = request(t.server.url + path, { method, headers }, (answer) => {
      const parts: Buffer[] = [];
      answer.on("data", (part: Buffer) => parts.push(part));
      answer.on("end", () => {
        const text = Buffer.concat(parts).toString();
        resolve({
          status: answer.statusCode ?? 0,
          text,
          json: text ? JSON.parse(text) : undefined,
        });
      });
    });
    asked.on("error", reject);
    asked.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

function ringOf({ home }: McpServer): KeyRing {
  const { encryption } = Config.parse({}).security;
  const { ring } = readKeyRing({ encryption, home, kind: "sqlite", warn: () => {} });
  return ring ?? expect.unreachable();
}

/** What the row of an execution holds, opened. */
async function routingOf(t: McpServer, execution_id: string) {
  const row = await t.store.executions.find(execution_id);
  return readRouting(ringOf(t), row?.routing_input ?? null);
}

async function newest(t: McpServer): Promise<string> {
  const { items } = await t.store.executions.list({ order: "created_desc", limit: 1, offset: 0 });
  return items[0]?.execution_id ?? expect.unreachable();
}

async function count(t: McpServer): Promise<number> {
  return (await t.store.executions.list({ order: "created_asc", limit: 1, offset: 0 })).total;
}

test.each([
  ["run", RUN],
  ["run of namespace default", "/workflows/plain/run/async"],
  ["run as a stream", "/workflows/shop/invoice/run/stream?timeout=0.01"],
  ["basic run", "/invoice?namespace=shop&timeout=0.01"],
  ["run of a service", "/services/shop/invoice?timeout=0.01"],
  ["run of a service without waiting", "/services/shop/invoice/async"],
])("RIN-1 %s takes the header, and stores it sealed", async (_, path) => {
  const t = await mcpServer(OFF);
  await t.as("POST", "/workflows", {
    source: `import { workflow } from "@engine/sdk";
export const plain = workflow({ name: "plain" }, async (i) => i);`,
  });
  // Both as a client escapes it and as the bytes of UTF-8.
  const bytes = Buffer.from(JSON.stringify(GIVEN)).toString("latin1");
  for (const text of [routingHeaderText(GIVEN), bytes]) {
    const { status } = await fetchRun(t, path, text);
    expect(status).toBeLessThan(300);
    const id = await newest(t);
    expect(await routingOf(t, id)).toEqual(GIVEN);
    expect((await t.store.executions.find(id))?.routing_input).toMatch(/^[0-9a-f]{8}:/);
  }
  await fetchRun(t, path, "{}");
  expect((await t.store.executions.find(await newest(t)))?.routing_input).toBeNull();
});

/** A stream is read to its end and not parsed. */
async function fetchRun({ server: { url } }: McpServer, path: string, text: string) {
  const headers = { "content-type": "application/json", "x-engine-routing-input": text };
  const answer = await fetch(url + path, { method: "POST", headers, body: JSON.stringify(CENTS) });
  await answer.text();
  return answer;
}

test("RIN-1 RIN-3 a fork and a restart have what their source had, unless another one is given", async () => {
  const t = await mcpServer(OFF);
  const first = await send(t, RUN, { routing: [routingHeaderText(GIVEN)], body: CENTS });
  const fork = async (routing: readonly string[]) => {
    const path = `/executions/${first.json.execution_id}/fork`;
    const { status, json } = await send(t, path, { routing });
    expect(status).toBe(201);
    return routingOf(t, json.execution_id);
  };
  expect(await fork([])).toEqual(GIVEN);
  expect(await fork(['{"dataset":"paris"}'])).toEqual({ dataset: "paris" });
  expect(await fork(["{}"])).toBeUndefined();
});

test("RIN-1 a trigger has what its schedule has, unless another one is given", async () => {
  const t = await mcpServer(OFF);
  const fields = { ...SCHEDULE, input: CENTS, routing_input: GIVEN };
  expect((await t.as("POST", "/schedules", fields)).body).toMatchObject({
    routing_input_set: true,
  });
  const trigger = async (routing: readonly string[]) => {
    const { status, json } = await send(t, "/schedules/nightly/trigger", { routing });
    expect(status).toBe(202);
    return routingOf(t, json.execution_id);
  };
  expect(await trigger([])).toEqual(GIVEN);
  expect(await trigger(['{"dataset":"paris"}'])).toEqual({ dataset: "paris" });
});

const SECRET = "berlin-17";
const BAD: readonly (readonly [RoutingInputFault, string])[] = [
  ["malformed", `{"a":"${SECRET}"`],
  ["malformed", ""],
  ["malformed", `{"a":"\xff ${SECRET}"}`],
  ["not_object", `["${SECRET}"]`],
  ["not_object", "null"],
  ["too_large", JSON.stringify({ a: SECRET.padEnd(4_096, "x") })],
  [
    "too_many_keys",
    JSON.stringify(Object.fromEntries(Array.from({ length: 65 }, (_, i) => [i, SECRET]))),
  ],
  ["too_deep", `${'{"a":'.repeat(8)}{"a":"${SECRET}"}${"}".repeat(8)}`],
  ["bad_key", `{"${SECRET}.b":1}`],
  ["bad_value", `{"a":["${SECRET}"]}`],
];

test.each(BAD)(
  "RIN-2 a header that is %s is refused on every route: %.30s",
  async (reason, text) => {
    const t = await mcpServer(OFF);
    await t.as("POST", "/schedules", { ...SCHEDULE, input: CENTS });
    const source = await send(t, RUN, { body: CENTS });
    const fork = `/executions/${source.json.execution_id}/fork`;
    const starts = [RUN, "/invoice?namespace=shop", "/services/shop/invoice/sync?timeout=0.01"];
    for (const path of [...starts, fork, "/schedules/nightly/trigger"]) {
      const body = starts.includes(path) ? CENTS : undefined;
      const { status, json, text: answer } = await send(t, path, { routing: [text], body });
      expect([status, json.error.code, json.error.details]).toEqual([
        ...[400, "invalid_routing_input", { reason }],
      ]);
      expect(answer).not.toContain(SECRET);
    }
    expect(await count(t)).toBe(1);
  },
);

test.each([
  ["the same twice", ["{}", "{}"]],
  ["two that join to one", ['{"a":1', '"b":2}']],
  ["two others", ['{"a":1}', '{"a":2}']],
])("RIN-2 a header that is sent twice is refused: %s", async (_, routing) => {
  const t = await mcpServer(OFF);
  const { status, json } = await send(t, RUN, { routing, body: CENTS });
  expect([status, json.error]).toMatchObject([
    400,
    { code: "invalid_routing_input", details: { reason: "repeated" } },
  ]);
  expect(await count(t)).toBe(0);
});

test.each(BAD.filter(([reason]) => reason !== "malformed"))(
  "RIN-2 a schedule with one that is %s is refused, and changes nothing: %.30s",
  async (reason, text) => {
    const t = await mcpServer(OFF);
    const fields = { ...SCHEDULE, input: CENTS };
    const bad = { routing_input: JSON.parse(text) };
    await t.as("POST", "/schedules", { ...fields, name: "other", routing_input: GIVEN });
    for (const answer of [
      await t.as("POST", "/schedules", { ...fields, ...bad }),
      await t.as("PUT", "/schedules/other", bad),
    ]) {
      const { code, details } = answer.body.error;
      expect([answer.status, code, details.reason]).toEqual([422, "invalid_input", reason]);
      expect(details.issues).toMatchObject([{ path: "body.routing_input" }]);
      expect(JSON.stringify(answer.body)).not.toContain(SECRET);
    }
    expect((await t.as("GET", "/schedules")).body.total).toBe(1);
    const { json } = await send(t, "/schedules/other/trigger", {});
    expect(await routingOf(t, json.execution_id)).toEqual(GIVEN);
  },
);

test("RIN-4 whoever may run a workflow may say where; whoever may not is not told what is wrong", async () => {
  const t = await mcpServer({});
  await t.as("POST", "/admin/roles", { name: "runs", permissions: ["workflow:shop:invoice:run"] });
  const [runner, nobody] = [
    await accountOf(t.as, "runner", ["runs"]),
    await accountOf(t.as, "nobody", []),
  ];
  const good = ['{"dataset":"berlin"}'];
  expect((await send(t, RUN, { routing: good, body: CENTS, token: runner })).status).toBe(202);
  expect((await send(t, RUN, { routing: ["["], body: CENTS, token: runner })).status).toBe(400);
  expect((await send(t, RUN, { routing: ["["], body: CENTS, token: nobody })).status).toBe(403);
  const again = "/schedules/nightly/trigger";
  expect((await send(t, again, { routing: ["["], token: nobody })).status).toBe(403);
});

const calling = (id: number) => ({
  ...{ jsonrpc: "2.0", id, method: "tools/call" },
  params: { name: "invoice_async", arguments: { ...CENTS } },
});
const MCP = { "mcp-protocol-version": "2025-11-25" };

test("RIN-1 RIN-2 a tool that starts a run takes the header of the MCP request", async () => {
  const t = await mcpServer(OFF);
  const headers = { ...MCP, "x-engine-routing-input": routingHeaderText(GIVEN) };
  const taken = await (await t.post(calling(1), headers)).text();
  expect(taken).toContain("execution_id");
  expect(await routingOf(t, await newest(t))).toEqual(GIVEN);
  const refused = await (
    await t.post(calling(2), { ...MCP, "x-engine-routing-input": `["${SECRET}"]` })
  ).text();
  expect(refused).toContain("invalid_routing_input");
  expect(refused).not.toContain(SECRET);
  expect(await count(t)).toBe(1);
});

test("RIN-3 whoever may read everything finds it nowhere: not in records, lists, streams, exports, audit or schedules", async () => {
  const t = await mcpServer({});
  const routing = [JSON.stringify({ dataset: SECRET })];
  const first = await send(t, RUN, { routing, body: CENTS });
  const id = first.json.execution_id;
  await send(t, `/executions/${id}/fork`, {});
  const account = { subject: "robot", type: "service_account", roles: ["admin"] };
  await t.as("POST", "/admin/principals", account);
  const routing_input = { dataset: SECRET };
  const fields = { ...SCHEDULE, run_as: "robot", input: CENTS, routing_input };
  const made = await t.as("POST", "/schedules", fields);
  expect(made.status).toBe(201);
  const triggered = await send(t, "/schedules/nightly/trigger", {});
  const read = [
    first.text,
    JSON.stringify(made.body),
    triggered.text,
    ...(await Promise.all(
      [
        `/executions/${id}?detailed=true`,
        `/executions/${id}/events`,
        `/executions/${id}/history`,
        "/executions",
        `/workflows/shop/invoice/status/${id}?detailed=true`,
        `/services/shop/invoice/status/${id}`,
        `/inspect/${id}`,
        `/executions/${id}?mode=stream&events=all&timeout=0.05`,
        "/schedules",
        "/schedules/nightly",
        "/schedules/nightly/history",
        "/admin/audit",
      ].map(async (path) => {
        const headers = { authorization: `Bearer ${t.adminKey}` };
        const answer = await fetch(t.server.url + path, { headers });
        expect([path, answer.status]).toEqual([path, 200]);
        return answer.text();
      }),
    )),
  ];
  expect(read.join("\n")).not.toMatch(/berlin|dataset|"routing_input"/);
  expect(await routingOf(t, triggered.json.execution_id)).toEqual({ dataset: SECRET });
});
