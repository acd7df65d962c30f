import { expect, test } from "vitest";
import { openApiDocument } from "./openapi.ts";
import { permissionText } from "./permission.ts";
import type { Route } from "./route.ts";
import { routes } from "./routes.ts";
import type { Json } from "./value.ts";

interface Operation {
  operationId: string;
  "x-permission": string;
  parameters: { name: string; in: string; required: boolean; schema: Json }[];
  requestBody?: { content: Record<string, { schema: Json }> };
  responses: Record<string, { content?: Record<string, { schema: Json }> }>;
}
interface Document {
  openapi: string;
  info: Json;
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Json> };
}

const document = openApiDocument(routes, {
  title: "The engine",
  version: "1.2.3",
}) as unknown as Document;
const table: [string, Route][] = Object.entries(routes).flatMap(([group, rows]) =>
  Object.entries(rows).map(([name, route]): [string, Route] => [`${group}.${name}`, route]),
);

function operationOf(id: string): Operation {
  const route = table.find(([key]) => key === id)?.[1];
  const operation = route && document.paths[route.path]?.[route.method.toLowerCase()];
  return operation ?? expect.unreachable(`no operation ${id}`);
}

function refs(json: Json): string[] {
  if (Array.isArray(json)) return json.flatMap(refs);
  if (typeof json !== "object" || json === null) return [];
  return Object.entries(json).flatMap(([key, value]) =>
    key === "$ref" ? [String(value)] : refs(value),
  );
}

test("the document is OpenAPI 3.1 and has each route once, with its permission", () => {
  expect(document.openapi).toBe("3.1.0");
  expect(document.info).toEqual({ title: "The engine", version: "1.2.3" });
  for (const [id, route] of table) {
    expect(operationOf(id)).toMatchObject({
      operationId: id,
      "x-permission": permissionText(route.permission),
    });
  }
  const operations = Object.values(document.paths).flatMap((path) => Object.values(path));
  expect(operations).toHaveLength(table.length);
});

test("every path parameter is declared, every listed status answered, every error covered", () => {
  for (const [id, route] of table) {
    const { parameters, responses } = operationOf(id);
    const declared = parameters.filter((p) => p.in === "path").map((p) => p.name);
    const inPath = Array.from(route.path.matchAll(/\{(\w+)\}/g), ([, name]) => name);
    expect(declared, id).toEqual(inPath);
    expect(Object.keys(responses).sort(), id).toEqual(
      [...Object.keys(route.answers), "default"].sort(),
    );
  }
});

test("no reference dangles, and all point at named components", () => {
  const used = refs(document as unknown as Json);
  expect(used.length).toBeGreaterThan(20);
  for (const ref of used) {
    const name = /^#\/components\/schemas\/(\w+)$/.exec(ref)?.[1];
    expect(Object.keys(document.components.schemas), ref).toContain(name);
  }
  expect(JSON.stringify(document)).not.toContain("$defs");
});

test("bodies and queries show what is sent, answers what comes back", () => {
  const list = operationOf("executions.list").parameters;
  expect(list.find((p) => p.name === "limit")).toEqual({
    name: "limit",
    in: "query",
    required: false,
    schema: {
      ...{ default: 50, type: "integer", minimum: 1, maximum: 200 },
      description: "at most so many",
    },
  });
  const register = operationOf("catalog.register");
  expect(register.requestBody?.content["application/json"]?.schema).toEqual({
    $ref: "#/components/schemas/Registration",
  });
  expect(register.responses["201"]?.content?.["application/json"]?.schema).toEqual({
    $ref: "#/components/schemas/Registered",
  });
  const registration = document.components.schemas["WorkerRegistration"] as { required: string[] };
  expect(registration.required).toContain("instance_id");
  expect(registration.required).not.toContain("slots");
  expect(JSON.stringify(document.components.schemas["ExecutionRecord"])).not.toContain(
    'additionalProperties":false',
  );
});

test("a value that is answered as it was stored is any JSON; other raw answers are text", () => {
  const answerOf = (id: string) => operationOf(id).responses["200"]?.content;
  expect(answerOf("workers.loadValue")).toEqual({ "application/json": { schema: {} } });
  expect(answerOf("workers.module")).toEqual({ "text/javascript": { schema: { type: "string" } } });
});

test("every query key and header says what it means", () => {
  const bare = table.flatMap(([id]) =>
    operationOf(id)
      .parameters.filter((parameter) => parameter.in !== "path")
      .filter(({ schema }) => !Object.hasOwn(schema as object, "description"))
      .map(({ name }) => name),
  );
  expect([...new Set(bare)]).toEqual([]);
});

test("a route that can stream answers text/event-stream beside its record", () => {
  const { content } = operationOf("executions.run").responses["200"] ?? {};
  expect(Object.keys(content ?? {})).toEqual(["application/json", "text/event-stream"]);
  const connect = operationOf("workers.connect").responses["200"];
  expect(Object.keys(connect?.content ?? {})).toEqual(["text/event-stream"]);
});
