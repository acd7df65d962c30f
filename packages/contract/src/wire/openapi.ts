import { RunMode } from "../routes/execution-queries.ts";
import type { Json } from "../values/value.ts";
import type { Groups, JsonObject, Schemas } from "./openapi-schemas.ts";
import { reference, schemasOf } from "./openapi-schemas.ts";
import { permissionText } from "./permission.ts";
import { isRaw, type Route } from "./route.ts";
import { groupTitles } from "./routes.ts";

/** What a document says of its server. */
export interface DocumentInfo {
  readonly version: string;
  readonly title: string;
  /** The base of all paths; relative to where the document was read, or absolute. */
  readonly server: string;
  /**
   * One path per `{mode}` of a run, since each is answered in another way: without it, a generated
   * client has a record or a text in its hands, and cannot tell which. Pages for people do without.
   */
  readonly eachMode?: boolean;
}

/** The route table as an OpenAPI 3.1 document. */
export function openApiDocument(groups: Groups, info: DocumentInfo): JsonObject {
  const { title, version, server, eachMode = true } = info;
  const schemas = schemasOf(groups);
  const paths: { [path: string]: JsonObject } = {};
  for (const [group, routes] of Object.entries(groups)) {
    for (const [name, route] of Object.entries(routes)) {
      for (const row of eachMode ? rowsOf(route) : [{ route }]) {
        const path = paths[row.route.path] ?? {};
        path[route.method.toLowerCase()] = operation({ group, name, ...row }, schemas);
        paths[row.route.path] = path;
      }
    }
  }
  const titles: Readonly<Record<string, string>> = groupTitles;
  return {
    openapi: "3.1.0",
    info: { title, version },
    servers: [{ url: server }],
    // Everybody may do everything until authorization is on: then callers bring a token.
    security: [{}, { bearer: [] }],
    tags: Object.keys(groups).map((name) => ({ name, description: titles[name] ?? name })),
    paths,
    components: {
      ...schemas.components,
      securitySchemes: { bearer: { type: "http", scheme: "bearer" } },
    },
  };
}

interface Row {
  readonly route: Route;
  /** The mode that the path names. */
  readonly mode?: RunMode;
}

/** The route, or a route per mode where its path ends with one. */
function rowsOf(route: Route): readonly Row[] {
  if (!route.params?.["mode"] || !route.frames) return [{ route }];
  return RunMode.options.map((mode) => ({
    route: { ...route, path: route.path.replace("{mode}", mode), answers: answersOf(route, mode) },
    mode,
  }));
}

/** EXE-81: at once is always "accepted", and a stream has its results in its frames. */
function answersOf({ answers }: Route, mode: RunMode): Route["answers"] {
  if (mode === "sync") return answers;
  const { 202: accepted } = answers;
  if (mode === "async" && accepted) return { 202: accepted };
  return { 200: { raw: "text/event-stream", meaning: "frames, named by `x-frames`" } };
}

type Named = Row & { readonly group: string; readonly name: string };

function operation({ group, name, route, mode }: Named, { components, parts }: Schemas) {
  const id = `${group}.${name}`;
  const part: Part = (of) => parts.get(`${id} ${of}`);
  const body = part("body");
  const streams = route.frames && mode !== "sync" && mode !== "async";
  return {
    operationId: mode === undefined ? id : `${id}.${mode}`,
    tags: [group],
    summary: route.summary,
    "x-permission": permissionText(route.permission),
    "x-effect": route.effect,
    ...(route.permission.kind === "open" && { security: [] }),
    ...(streams && { "x-frames": framesOf(route, part) }),
    ...(route.speaks && { "x-frames": { message: {} } }),
    ...(route.lines && { "x-lines": part("lines") ?? {} }),
    parameters: [
      ...Array.from(route.path.matchAll(/\{(\w+)\}/g), ([, param = ""]) => ({
        name: param,
        in: "path",
        required: true,
        schema: part(`param ${param}`) ?? { type: "string" },
      })),
      ...parameters("query", part("query")),
      ...parameters("header", part("headers")),
    ],
    ...(body && { requestBody: requestBody(route, body, components) }),
    ...(route.speaks && { requestBody: SPOKEN }),
    responses: { ...spoken(route), ...responses(route, streams === true, part) },
  } satisfies JsonObject;
}

/** The schema of a part of one route, such as `query`. */
type Part = (name: string) => JsonObject | undefined;

/** The data of each frame, by its name. */
function framesOf({ frames = {} }: Route, part: Part): JsonObject {
  return Object.fromEntries(Object.keys(frames).map((name) => [name, part(`frame ${name}`) ?? {}]));
}

function parameters(place: string, schema: JsonObject = {}): JsonObject[] {
  const required = (schema["required"] ?? []) as string[];
  return Object.entries((schema["properties"] ?? {}) as JsonObject).map(([name, value]) => ({
    name,
    in: place,
    required: required.includes(name),
    schema: value,
  }));
}

function requestBody(
  { lines }: Route,
  schema: JsonObject,
  { requestBodies }: Schemas["components"],
): JsonObject {
  const name = Object.keys(requestBodies).find((key) => reference(key) === schema["$ref"]);
  if (name !== undefined) return { $ref: `#/components/requestBodies/${name}` };
  return { content: { [lines ? "application/x-ndjson" : "application/json"]: { schema } } };
}

function responses({ answers, speaks }: Route, streams: boolean, part: Part): JsonObject {
  const listed = Object.entries(answers).map(([status, answer]) => {
    if (isRaw(answer)) {
      // Raw JSON is a value that was printed already, of any type.
      const schema = answer.raw === "application/json" ? {} : { type: "string" };
      const content = answer.raw && { content: { [answer.raw]: { schema } } };
      const headers = part(`${status} headers`);
      const told = headers && { headers: headersOf(headers) };
      return [status, { description: answer.meaning, ...told, ...content }];
    }
    const stream = status === "200" && streams && { "text/event-stream": { schema: FRAMES } };
    const schema = part(status) ?? {};
    // A request may also be refused with the same status.
    const body = Number(status) < 400 ? schema : { anyOf: [schema, ERROR] };
    return [
      status,
      { description: "A result.", content: { "application/json": { schema: body }, ...stream } },
    ];
  });
  // A protocol has refusals of its own, beside those of who may not ask.
  const schema = speaks ? {} : ERROR;
  const error = { description: "An error.", content: { "application/json": { schema } } };
  return { ...Object.fromEntries(listed), "4XX": error, "5XX": error };
}

/** What comes with an answer. A description belongs to the header, not to its value. */
function headersOf({ properties = {} }: JsonObject): JsonObject {
  const headers = Object.entries(properties as JsonObject).map(([name, value]) => {
    const { description, ...schema } = value as JsonObject;
    return [name, { ...(description !== undefined && { description }), required: true, schema }];
  });
  return Object.fromEntries(headers);
}

/** What a protocol of its own answers is described by the protocol. */
function spoken({ speaks }: Route): JsonObject {
  if (!speaks) return {};
  const content = Object.fromEntries(speaks.map((type) => [type, { schema: {} }]));
  return { 200: { description: "A message of the protocol, or a stream of them.", content } };
}

const SPOKEN: JsonObject = { content: { "application/json": { schema: {} } }, required: true };
const FRAMES: Json = { type: "string", description: "server-sent events, named by `x-frames`" };
const ERROR: Json = { $ref: reference("ErrorBody") };
