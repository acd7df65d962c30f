import { permissionText, routes } from "@engine/contract";
import { type Call, createApp, type TableHandlers } from "@engine/http";
import { expect, test } from "vitest";
import { unchecked } from "../testing/unchecked.ts";

/** Every route of the engine, answering its own name and parameters. */
function namingApp() {
  const handlers = Object.fromEntries(
    Object.entries(routes).map(([group, rows]) => [
      group,
      Object.fromEntries(
        Object.entries(rows).map(([name, route]) => [
          name,
          async ({ params }: { params: unknown }, { permit }: Call) => {
            const needed = permissionText(route.permission);
            for (const [, kind = ""] of needed.matchAll(/scoped\((\w+):/g)) permit.seen(kind);
            await permit.demandOf(async () => ({}));
            await permit.demandRun(() => []);
            const said = JSON.stringify([`${group}.${name}`, params]);
            return { status: Number(Object.keys(route.answers)[0]), raw: said };
          },
        ]),
      ),
    ]),
  ) as unknown as TableHandlers<typeof routes>;
  const app = createApp({ routes, handlers, log: { error: () => {} }, ids: () => "r" });
  unchecked.add(app);
  return app;
}

const app = namingApp();

async function reached(method: "DELETE" | "GET" | "POST" | "PUT", url: string): Promise<unknown> {
  const response = await app.inject({ method, url, ...(method === "POST" && { payload: "{}" }) });
  return response.statusCode < 300 ? response.json() : response.statusCode;
}

test("EXE-89 a workflow runs and resumes under its bare name", async () => {
  expect(await reached("POST", "/hello")).toEqual(["basic.run", { workflow_name: "hello" }]);
  expect(await reached("POST", "/hello/0190-x")).toEqual([
    "basic.resume",
    { workflow_name: "hello", execution_id: "0190-x" },
  ]);
  expect(await reached("GET", "/inspect/0190-x")).toEqual([
    "basic.inspect",
    { execution_id: "0190-x" },
  ]);
});

test("EXE-89 fixed routes win: their first segments are no workflow names, whatever the method", async () => {
  expect(await reached("POST", "/health")).toBe(405);
  expect(await reached("POST", "/inspect/0190-x")).toBe(405);
  expect(await reached("POST", "/executions/0190-x")).toBe(405);
  expect(await reached("POST", "/workflows/0190-x")).toBe(404);
  expect(await reached("POST", "/workers")).toBe(405);
  expect(await reached("POST", "/workers/0190-x")).toBe(405);
  expect(await reached("POST", "/checkpoint")).toBe(404);
  const { headers } = await app.inject({ method: "POST", url: "/health" });
  expect(headers["allow"]).toBe("GET, HEAD");
});

test("a path that no route has is unknown, whatever the method; only a known one says which it takes", async () => {
  for (const path of ["/nope", "/nope/0190-x", "/nope/a/b", "/workflows/a/b/c/d/e/f"]) {
    for (const method of ["GET", "PUT", "DELETE"] as const) {
      const { statusCode, headers } = await app.inject({ method, url: path });
      expect([method, path, statusCode]).toEqual([method, path, 404]);
      expect(headers).not.toHaveProperty("allow");
    }
  }
  for (const [method, path, allow] of [
    ["DELETE", "/executions", "GET, HEAD"],
    ["PUT", "/workflows/shop/checkout/run/sync", "POST"],
    ["POST", "/workflows/shop/checkout", "DELETE, GET, HEAD"],
    ["GET", "/checkpoint/0190-x", "POST"],
  ] as const) {
    const { statusCode, headers } = await app.inject({ method, url: path });
    expect([path, statusCode, headers["allow"]]).toEqual([path, 405, allow]);
  }
});

test("EXE-78 paths whose segments could be read two ways reach the right route", async () => {
  const sync = { mode: "sync" };
  expect(await reached("POST", "/workflows/shop/checkout/run/sync")).toEqual([
    "executions.run",
    { ns: "shop", wf: "checkout", ...sync },
  ]);
  expect(await reached("POST", "/workflows/checkout/run/sync")).toEqual([
    "executions.runDefault",
    { wf: "checkout", ...sync },
  ]);
  // A workflow and a namespace may be named like a segment.
  expect(await reached("POST", "/workflows/shop/run/run/sync")).toEqual([
    "executions.run",
    { ns: "shop", wf: "run", ...sync },
  ]);
  expect(await reached("POST", "/workflows/run/run/run/sync")).toEqual([
    "executions.run",
    { ns: "run", wf: "run", ...sync },
  ]);
  expect(await reached("GET", "/workflows/shop/versions")).toEqual([
    "catalog.get",
    { ns: "shop", wf: "versions" },
  ]);
  expect(await reached("GET", "/workflows/shop/checkout/versions/3")).toEqual([
    "catalog.version",
    { ns: "shop", wf: "checkout", version: 3 },
  ]);
});

test("an empty segment is no name", async () => {
  expect(await reached("POST", "/hello/")).toBe(404);
  expect(await reached("GET", "/executions/")).toBe(404);
  expect(await reached("GET", "/")).toBe(404);
  expect(await reached("POST", "/")).toBe(404);
});

test("EXE-26 a task call id in a path is percent-decoded, however long", async () => {
  const id = `agent~1/llm~2/${"x".repeat(300)}~1`;
  expect(await reached("GET", `/executions/${encodeURIComponent(id)}`)).toEqual([
    "executions.get",
    { id },
  ]);
});

test("every route of the table is reachable under its own path", async () => {
  for (const [group, rows] of Object.entries(routes)) {
    for (const [name, route] of Object.entries(rows)) {
      const known: Readonly<Record<string, string>> = { mode: "sync", seq: "1", version: "1" };
      const path = (route.path as string).replace(
        /\{(\w+)\}/g,
        (_, param: string) => known[param] ?? `some-${param}`,
      );
      const found = app.hasRoute({
        method: route.method,
        url: route.path.replace(/\{(\w+)\}/g, ":$1"),
      });
      expect(found, `${group}.${name}`).toBe(true);
      const response = await app.inject({ method: route.method, url: path });
      // Without a body some are refused, but never as unknown.
      expect([404, 405], `${group}.${name}`).not.toContain(response.statusCode);
    }
  }
});
