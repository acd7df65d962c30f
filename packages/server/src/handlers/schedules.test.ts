import { randomUUID } from "node:crypto";
import { type Json, routes, type Schedule } from "@engine/contract";
import { createApp } from "@engine/http";
import { expect, test } from "vitest";
import type { RunLists } from "../auth/run-lists.ts";
import { NOBODY } from "../executions/principal-refs.ts";
import type { Log } from "../log.ts";
import { Scheduled } from "../schedules/testing/scheduled.ts";
import { scheduleHandlers } from "./schedules.ts";

const silent: Log = { debug() {}, info() {}, warn() {}, error() {} };

/** Everybody may do everything here. */
const runLists = {
  ofName: () => expect.unreachable("nobody has to know the list"),
} as unknown as RunLists;

/** Nothing is started by anybody. */
const executions = { who: () => NOBODY };

/** The routes of schedules, without a port. */
function http({ schedules }: Scheduled) {
  const app = createApp({
    routes: { schedules: routes.schedules },
    handlers: {
      schedules: scheduleHandlers(
        { schedules, runLists, executions, accounts: { areChecked: false } },
        { clock: Date.now, ids: randomUUID },
      ),
    },
    log: silent,
    ids: () => "r",
  });
  const send = (method: "POST" | "PUT") => (url: string, body: Json) =>
    app.inject({
      method,
      url,
      headers: { "content-type": "application/json" },
      payload: JSON.stringify(body),
    });
  return {
    get: (url: string) => app.inject({ method: "GET", url }),
    remove: (url: string) => app.inject({ method: "DELETE", url }),
    ask: (url: string) => app.inject({ method: "POST", url }),
    post: send("POST"),
    put: send("PUT"),
  };
}

const nightly = {
  name: "nightly",
  workflow: "hello",
  spec: { type: "cron", expression: "0 2 * * *" },
};

test("EXE-72 a schedule over HTTP, from its creation to its end", async () => {
  await using engine = await Scheduled.open();
  const { get, post, put, ask, remove } = http(engine);
  const created = await post("/schedules", { ...nightly, routing_input: { gpu: "a100" } });
  expect(created.statusCode).toBe(201);
  const record = created.json<Schedule>();
  expect(record).toMatchObject({
    name: "nightly",
    spec: { type: "cron", expression: "0 2 * * *", timezone: "UTC" },
    routing_input_set: true,
    upcoming: { length: 5 },
  });
  expect(record).not.toHaveProperty("routing_input");
  expect((await get("/schedules/nightly")).json()).toEqual(record);
  expect((await get("/schedules")).json()).toEqual({
    items: [record],
    total: 1,
    auth_filtered: false,
    limit: 200,
    offset: 0,
  });
  expect((await get("/schedules?status=paused")).json()).toMatchObject({ items: [], total: 0 });

  const changed = await put("/schedules/nightly", { routing_input: {}, overlap: "queue" });
  expect(changed.statusCode).toBe(200);
  expect(changed.json()).toMatchObject({ routing_input_set: false, overlap: "queue" });
  expect((await ask("/schedules/nightly/pause")).json()).toMatchObject({ status: "paused" });
  expect((await ask("/schedules/nightly/resume")).json()).toMatchObject({ status: "active" });

  const triggered = await ask("/schedules/nightly/trigger");
  expect(triggered.statusCode).toBe(202);
  const { execution_id } = triggered.json<{ execution_id: string }>();
  // EXE-78: its record says what started it.
  const started = { state: "CREATED", workflow: "hello", schedule: "nightly" };
  expect(triggered.json()).toMatchObject(started);
  expect(triggered.headers["location"]).toBe(`/workflows/default/hello/status/${execution_id}`);
  const history = await get("/schedules/nightly/history");
  expect(history.json()).toMatchObject({ items: [{ execution_id }], total: 1, limit: 50 });

  const deleted = await remove("/schedules/nightly");
  expect([deleted.statusCode, deleted.body]).toEqual([204, ""]);
  expect((await get("/schedules/nightly")).statusCode).toBe(404);
});

test.each<[string, Json, number, string, string[]]>([
  ["no body", null, 422, "invalid_input", ["body"]],
  ["no fields", {}, 422, "invalid_input", ["body.name", "body.workflow", "body.spec"]],
  ["a wrong name", { ...nightly, name: "a/b" }, 422, "invalid_input", ["body.name"]],
  ["a long name", { ...nightly, name: "a".repeat(258) }, 422, "invalid_input", ["body.name"]],
  ["an unknown field", { ...nightly, owner: 1 }, 422, "invalid_input", ["body.owner"]],
  ["a spec of no type", { ...nightly, spec: {} }, 422, "invalid_input", ["body.spec.type"]],
  [
    "an interval below a second",
    { ...nightly, spec: { type: "interval", every_seconds: 0.5 } },
    422,
    "invalid_input",
    ["body.spec.every_seconds"],
  ],
  ["a wrong overlap", { ...nightly, overlap: "maybe" }, 422, "invalid_input", ["body.overlap"]],
  ["a wrong catch_up", { ...nightly, catch_up: 3 }, 422, "invalid_input", ["body.catch_up"]],
  ["version 0", { ...nightly, version: 0 }, 422, "invalid_input", ["body.version"]],
  [
    "routing input that is a list",
    { ...nightly, routing_input: [1] },
    422,
    "invalid_input",
    ["body.routing_input"],
  ],
  ["no account", { ...nightly, run_as: "" }, 422, "invalid_input", ["body.run_as"]],
  [
    "an expression that is none",
    { ...nightly, spec: { type: "cron", expression: "0 2 * *" } },
    422,
    "invalid_schedule",
    ["body.spec.expression"],
  ],
  ["an unknown workflow", { ...nightly, workflow: "bye" }, 404, "not_found", []],
])("EXE-74 POST /schedules with %s is refused and saves nothing", async (...row) => {
  const [, body, status, code, paths] = row;
  await using engine = await Scheduled.open();
  const { post, get } = http(engine);
  const refused = await post("/schedules", body);
  expect(refused.statusCode).toBe(status);
  const { error } = refused.json<{ error: { code: string; details?: { issues?: unknown[] } } }>();
  expect(error.code).toBe(code);
  const issues = (error.details?.issues ?? []) as { path: string }[];
  expect(issues.map(({ path }) => path)).toEqual(paths);
  expect((await get("/schedules")).json()).toMatchObject({ total: 0 });
});

test("EXE-79 what does not exist is 404 on every route, with its resource", async () => {
  await using engine = await Scheduled.open();
  const { get, put, ask, remove } = http(engine);
  const answers = await Promise.all([
    get("/schedules/ghost"),
    put("/schedules/ghost", { overlap: "allow" }),
    remove("/schedules/ghost"),
    ask("/schedules/ghost/pause"),
    ask("/schedules/ghost/resume"),
    ask("/schedules/ghost/trigger"),
    get("/schedules/ghost/history"),
  ]);
  for (const answer of answers) {
    expect(answer.statusCode).toBe(404);
    expect(answer.json()).toMatchObject({
      error: { code: "not_found", details: { resource: "schedule" } },
    });
  }
});

test("EXE-79 a wrong query, and fields that PUT cannot change, are refused with their path", async () => {
  await using engine = await Scheduled.open();
  const { get, post, put } = http(engine);
  await post("/schedules", nightly);
  const paths = async (answer: Awaited<ReturnType<typeof get>>) => {
    const body = answer.json<{ error: { details: { issues: { path: string }[] } } }>();
    return [answer.statusCode, ...body.error.details.issues.map(({ path }) => path)];
  };
  expect(await paths(await get("/schedules?status=asleep"))).toEqual([422, "query.status"]);
  expect(await paths(await get("/schedules?limit=1001"))).toEqual([422, "query.limit"]);
  expect(await paths(await get("/schedules/nightly/history?limit=201"))).toEqual([
    422,
    "query.limit",
  ]);
  expect(await paths(await put("/schedules/nightly", { name: "other" }))).toEqual([
    422,
    "body.name",
  ]);
  expect(await paths(await put("/schedules/nightly", { workflow: "bye" }))).toEqual([
    422,
    "body.workflow",
  ]);
});

test("EXE-74 a taken name is 409", async () => {
  await using engine = await Scheduled.open();
  const { post } = http(engine);
  await post("/schedules", nightly);
  const again = await post("/schedules", nightly);
  expect(again.statusCode).toBe(409);
  expect(again.json()).toMatchObject({ error: { code: "schedule_exists" } });
});
