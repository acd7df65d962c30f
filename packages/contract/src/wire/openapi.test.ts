import { expect, test } from "vitest";
import type { Json } from "../values/value.ts";
import { openApiDocument } from "./openapi.ts";
import { permissionText } from "./permission.ts";
import type { Route } from "./route.ts";
import { routes } from "./routes.ts";

interface Operation {
  operationId: string;
  security?: Json;
  "x-permission": string;
  "x-frames"?: Record<string, Json>;
  parameters: { name: string; in: string; required: boolean; schema: Json }[];
  requestBody?: { content: Record<string, { schema: Json }> } | { $ref: string };
  responses: Record<string, { content?: Record<string, { schema: Json }> }>;
}
interface Document {
  openapi: string;
  info: Json;
  servers: Json;
  security: Json;
  tags: { name: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: {
    schemas: Record<string, Json>;
    requestBodies: Record<string, { content: Record<string, { schema: Json }> }>;
  };
}

const info = { title: "The engine", version: "1.2.3", server: "/" };
const document = openApiDocument(routes, info) as unknown as Document;
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, ...operation })),
);
const table: [string, Route][] = Object.entries(routes).flatMap(([group, rows]) =>
  Object.entries(rows).map(([name, route]): [string, Route] => [`${group}.${name}`, route]),
);

/** One per route, and one per mode of those whose path says it. */
function idsOf([id, route]: [string, Route]): string[] {
  return route.params?.["mode"] ? ["sync", "async", "stream"].map((mode) => `${id}.${mode}`) : [id];
}

function operationOf(id: string): Operation {
  return operations.find(({ operationId }) => operationId === id) ?? expect.unreachable(id);
}

function jsonOf(id: string, status: string): Json | undefined {
  return operationOf(id).responses[status]?.content?.["application/json"]?.schema;
}

function refs(json: Json): string[] {
  if (Array.isArray(json)) return json.flatMap(refs);
  if (typeof json !== "object" || json === null) return [];
  return Object.entries(json).flatMap(([key, value]) =>
    key === "$ref" ? [String(value)] : refs(value),
  );
}

test("the document is OpenAPI 3.1 and has each route, with its permission", () => {
  expect(document.openapi).toBe("3.1.0");
  expect(document.info).toEqual({ title: "The engine", version: "1.2.3" });
  expect(operations.map(({ operationId }) => operationId).sort()).toEqual(
    table.flatMap(idsOf).sort(),
  );
  for (const [id, route] of table) {
    for (const each of idsOf([id, route])) {
      expect(operationOf(each)["x-permission"], each).toBe(permissionText(route.permission));
    }
  }
});

test("the document says where its server is, who may call it and what its groups are", () => {
  expect(document.servers).toEqual([{ url: "/" }]);
  // Without authorization everybody may; with it callers bring a token.
  expect(document.security).toEqual([{}, { bearer: [] }]);
  expect(operationOf("system.health").security).toEqual([]);
  expect(document.tags.map(({ name }) => name)).toEqual(Object.keys(routes));
});

test("every path parameter is declared, every status that may come covered", () => {
  for (const { path, parameters, operationId, responses } of operations) {
    const declared = parameters.filter((p) => p.in === "path").map((p) => p.name);
    const inPath = Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]) => name);
    expect(declared, operationId).toEqual(inPath);
    expect(Object.keys(responses), operationId).toEqual(expect.arrayContaining(["4XX", "5XX"]));
  }
  for (const [id, route] of table) {
    const statuses = idsOf([id, route]).flatMap((each) => Object.keys(operationOf(each).responses));
    expect(statuses, id).toEqual(expect.arrayContaining(Object.keys(route.answers)));
  }
});

test("a status that carries a result and a refusal alike is either of them", () => {
  const error = { $ref: "#/components/schemas/ErrorBody" };
  const record = { $ref: "#/components/schemas/ExecutionRecord" };
  for (const id of ["executions.run.sync", "executions.resume", "executions.resumeMode.sync"]) {
    expect(jsonOf(id, "200"), id).toEqual(record);
    expect(jsonOf(id, "409"), id).toEqual({ anyOf: [record, error] });
    expect(jsonOf(id, "500"), id).toEqual({ anyOf: [record, error] });
  }
  for (const id of ["basic.run", "basic.resume"]) {
    expect(jsonOf(id, "409"), id).toMatchObject({ anyOf: [jsonOf(id, "200"), error] });
  }
  expect(jsonOf("system.health", "503")).toMatchObject({ anyOf: [{}, error] });
});

test("each mode of a run has its own path and its own answers", () => {
  const types = (id: string) =>
    Object.entries(operationOf(id).responses)
      .filter(([status]) => /^\d+$/.test(status))
      .map(([status, { content }]) => [status, ...Object.keys(content ?? {})]);
  const json = "application/json";
  expect(types("executions.run.sync")).toEqual([
    ["200", json],
    ["202", json],
    ["409", json],
    ["500", json],
  ]);
  expect(types("executions.run.async")).toEqual([["202", json]]);
  expect(types("executions.run.stream")).toEqual([["200", "text/event-stream"]]);
  expect(document.paths["/workflows/{ns}/{wf}/run/stream"]?.["post"]?.operationId).toBe(
    "executions.run.stream",
  );
  expect(operationOf("executions.run.sync")).not.toHaveProperty("x-frames");
  const people = openApiDocument(routes, { ...info, eachMode: false }) as unknown as Document;
  expect(people.paths["/workflows/{ns}/{wf}/run/{mode}"]?.["post"]?.parameters).toContainEqual({
    name: "mode",
    in: "path",
    required: true,
    schema: { type: "string", enum: ["sync", "async", "stream"] },
  });
});

test("a path parameter that is a number says so", () => {
  const schema = (id: string, name: string) =>
    operationOf(id).parameters.find((parameter) => parameter.name === name)?.schema;
  expect(schema("executions.eventValue", "seq")).toMatchObject({ type: "integer", minimum: 1 });
  expect(schema("catalog.version", "version")).toMatchObject({ type: "integer", minimum: 1 });
  expect(schema("catalog.version", "ns")).toEqual({ type: "string" });
});

test("a field with a default may be left out of a body, and is always in an answer", () => {
  // Generators take a default for a promise unless they meet it in a request body.
  expect(JSON.stringify(document.components.schemas)).not.toContain('"default":');
  const { NewSchedule } = document.components.requestBodies;
  expect(NewSchedule?.content["application/json"]?.schema).toMatchObject({
    required: ["name", "workflow", "spec"],
    properties: { overlap: { default: "skip" } },
  });
  expect(operationOf("schedules.create").requestBody).toEqual({
    $ref: "#/components/requestBodies/NewSchedule",
  });
});

test("a filter takes states in any case, and the document allows what is taken", () => {
  const state = operationOf("executions.list").parameters.find(({ name }) => name === "state");
  const schema = state?.schema as { items: { anyOf: [Json, { pattern: string }] } } | undefined;
  const pattern = new RegExp(schema?.items.anyOf[1].pattern ?? "");
  for (const text of ["paused", "Paused", "PAUSED"]) expect(text).toMatch(pattern);
  expect("gone").not.toMatch(pattern);
});

test("no reference dangles, and all point at named components", () => {
  const used = refs(document as unknown as Json);
  expect(used.length).toBeGreaterThan(20);
  for (const ref of used) {
    const [, kind, name] = /^#\/components\/(schemas|requestBodies)\/(\w+)$/.exec(ref) ?? [];
    const known = kind === "schemas" || kind === "requestBodies" ? document.components[kind] : {};
    expect(Object.keys(known), ref).toContain(name);
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
  expect(register.requestBody).toEqual({
    content: { "application/json": { schema: { $ref: "#/components/schemas/Registration" } } },
  });
  expect(register.responses["201"]?.content?.["application/json"]?.schema).toEqual({
    $ref: "#/components/schemas/Registered",
  });
  const { WorkerRegistration } = document.components.requestBodies;
  const registration = WorkerRegistration?.content["application/json"]?.schema as {
    required: string[];
  };
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

test("HOOK-36 headers that say what became of it are described with their answer", () => {
  const { responses } = operationOf("hooks.delete");
  expect(responses["204"]).toEqual({
    description: "the hook is deleted",
    headers: {
      "x-engine-pending-dropped": {
        description: "deliveries that waited, and are gone",
        required: true,
        schema: { type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
      },
    },
  });
});

test("every query key and header says what it means", () => {
  const bare = operations.flatMap(({ parameters }) =>
    parameters
      .filter((parameter) => parameter.in !== "path")
      .filter(({ schema }) => !Object.hasOwn(schema as object, "description"))
      .map(({ name }) => name),
  );
  expect([...new Set(bare)]).toEqual([]);
});

test("a route that can stream answers text/event-stream beside its record, with the data of each frame", () => {
  const { content } = operationOf("executions.get").responses["200"] ?? {};
  expect(Object.keys(content ?? {})).toEqual(["application/json", "text/event-stream"]);
  const connect = operationOf("workers.connect");
  expect(Object.keys(connect.responses["200"]?.content ?? {})).toEqual(["text/event-stream"]);
  expect(connect["x-frames"]?.["assign"]).toEqual({ $ref: "#/components/schemas/Assignment" });
  expect(operationOf("executions.run.stream")["x-frames"]).toMatchObject({
    "{workflow}.execution.{state}": { $ref: "#/components/schemas/ExecutionRecord" },
    event: { $ref: "#/components/schemas/RecordedEvent" },
  });
});
