import { randomUUID } from "node:crypto";
/* What a query may say: text that is no number, no instant and no id is refused, never read as another. */
import { type ErrorBody, type InputIssue, routes } from "@engine/contract";
import { createApp } from "@engine/http";
import { expect, test } from "vitest";
import { silent, TestEngine } from "../testing/start-engine.ts";
import { catalogHandlers } from "./catalog.ts";
import { executionHandlers } from "./executions.ts";
import { fleetHandlers } from "./fleet.ts";
import { resources } from "./resources.ts";

function appOf(t: TestEngine) {
  const ports = { clock: t.time.clock, ids: randomUUID };
  return createApp({
    routes: { executions: routes.executions, catalog: routes.catalog, fleet: routes.fleet },
    handlers: {
      executions: executionHandlers(t.engine, 300),
      catalog: catalogHandlers(t.engine, ports),
      fleet: fleetHandlers(t.engine, ports),
    },
    resources,
    log: silent,
    ids: () => "r",
  });
}

const WHOLE = "expected a whole number";
const INSTANT = "must be an instant such as 2026-11-20T09:00:00Z";

test.each([
  ["/executions?before=nope", "before", 'expected the id of an execution, got "nope"'],
  ["/executions?created_after=1", "created_after", `${INSTANT}, got "1"`],
  ["/executions?finished_before=2026-02-30", "finished_before", `${INSTANT}, got "2026-02-30"`],
  ["/executions?schedule=a%00", "schedule", "expected text without the character U+0000"],
  ["/executions?limit=0x10", "limit", `${WHOLE}, got "0x10"`],
  ["/executions?limit=", "limit", `${WHOLE}, got ""`],
  ["/executions?limit=1&limit=2", "limit", `${WHOLE}, got 2 of them`],
  ["/executions?limit=201", "limit", 'expected at most 200, got "201"'],
  ["/executions?offset=-1", "offset", 'expected at least 0, got "-1"'],
  ["/executions?version=1e0", "version", `${WHOLE}, got "1e0"`],
  ["/executions?root=yes", "root", 'must be true or false, got "yes"'],
  ["/executions?root=true&root=true", "root", "must be true or false, got 2 of them"],
  ["/executions?name=a&name=b", "name", "expected string, got 2 of them"],
  ["/workflows?limit=%201", "limit", `${WHOLE}, got " 1"`],
  ["/workers?status=up", "status", expect.stringMatching(/expected one of .*, got "up"$/)],
])(
  "EXE-79 a query that cannot be meant says which key, what was expected and what came: %s",
  async (url, key, message) => {
    await using t = await TestEngine.start();
    const response = await appOf(t).inject({ url });
    expect(response.statusCode).toBe(422);
    const { error } = response.json<ErrorBody>();
    const issues = error.details?.["issues"] as InputIssue[];
    expect(issues).toEqual([{ path: `query.${key}`, message }]);
    expect(error.message).toBe(`query.${key}: ${issues[0]?.message}`);
  },
);

test("EXE-80 a start whose query cannot be meant creates nothing", async () => {
  await using t = await TestEngine.start();
  const app = appOf(t);
  for (const query of ["priority=0x1", "priority=1&priority=2", "timeout=0", "park_ttl=-1"]) {
    const url = `/workflows/default/hello/run/async?${query}`;
    expect((await app.inject({ method: "POST", url })).statusCode, query).toBe(422);
  }
  expect((await app.inject({ url: "/executions" })).json()).toMatchObject({ total: 0 });
});

test("EXE-85 the page behind an execution is asked for by its id, in any case of its letters", async () => {
  await using t = await TestEngine.start();
  const app = appOf(t);
  const [older, newer] = [await t.run(), await t.run()];
  const page = async (id: string) =>
    (await app.inject({ url: `/executions?before=${id}` }))
      .json()
      .items.map(({ execution_id }: { execution_id: string }) => execution_id);
  expect(await page(newer.execution_id)).toEqual([older.execution_id]);
  expect(await page(newer.execution_id.toUpperCase())).toEqual([older.execution_id]);
});

test("EXE-85 states are written in any case", async () => {
  await using t = await TestEngine.start();
  await t.run();
  const url = "/executions?state=created&state=Paused&state=FAILED";
  expect((await appOf(t).inject({ url })).json()).toMatchObject({ total: 1 });
  const refused = await appOf(t).inject({ url: "/executions?state=gone" });
  expect(refused.statusCode).toBe(422);
  expect(refused.json<ErrorBody>().error.message).toMatch(/CREATED.*got "gone"/);
});

test("EXE-79 an unknown mode is a 400 with the modes there are; what cannot be a number names nothing", async () => {
  await using t = await TestEngine.start();
  const app = appOf(t);
  const { execution_id } = await t.run();
  const answer = async (method: "GET" | "POST", url: string) => {
    const response = await app.inject({ method, url });
    const { error } = response.json<ErrorBody>();
    return [response.statusCode, error.code, error.details];
  };
  const allowed = ["sync", "async", "stream"];
  const unknown = [400, "bad_request", { allowed }];
  expect(await answer("POST", "/workflows/default/hello/run/later")).toEqual(unknown);
  expect(await answer("POST", "/workflows/hello/run/later")).toEqual(unknown);
  expect(await answer("POST", `/workflows/default/hello/resume/${execution_id}/x`)).toEqual(
    unknown,
  );
  const noEvent = [404, "not_found", { resource: "event" }];
  for (const seq of ["0", "x", "1.5", "1e0", "9".repeat(20)]) {
    expect(await answer("GET", `/executions/${execution_id}/events/${seq}/value`)).toEqual(noEvent);
  }
  const noVersion = [404, "not_found", { resource: "version" }];
  for (const version of ["0", "x", "2", "9".repeat(12)]) {
    const path = `/workflows/default/hello/versions/${version}`;
    expect(await answer("GET", path)).toEqual(noVersion);
  }
});

test("EXE-79 a path with the character U+0000 names nothing, and no database is asked for it", async () => {
  await using t = await TestEngine.start();
  const app = appOf(t);
  for (const method of ["executions.find", "catalog.find", "workers.find"] as const)
    t.failing.add(method);
  for (const [path, resource] of [
    ["/executions/{}", "execution"],
    ["/executions/a{}b/events/1/value", "execution"],
    ["/workflows/default/{}", "workflow"],
    ["/workers/{}", "worker"],
  ] as const) {
    const url = path.replace("{}", "%00");
    const response = await app.inject({ url });
    expect([url, response.statusCode]).toEqual([url, 404]);
    expect(response.json<ErrorBody>().error.details).toEqual({ resource });
    // With another name it would be.
    expect((await app.inject({ url: path.replace("{}", "x") })).statusCode, path).toBe(503);
  }
});
