import * as z from "zod";
import { Namespace, Registered, Registration, SourceIssue, WorkflowRecord } from "./catalog.ts";
import { Checkpoint, CheckpointAccepted, CheckpointItem, ItemRefused } from "./checkpoint.ts";
import { ErrorBody } from "./errors.ts";
import { Event, EventMeta, NewEvent } from "./event.ts";
import {
  BasicExecution,
  ExecutionError,
  ExecutionRecord,
  ExecutionSummary,
  InspectedExecution,
  OpenPause,
  State,
  Wait,
} from "./execution.ts";
import { Failure } from "./failure.ts";
import { permissionText } from "./permission.ts";
import { ProgressBatch } from "./progress.ts";
import { RecordedEvent } from "./recorded-event.ts";
import { ReleaseItem } from "./release.ts";
import { isRaw, type Route } from "./route.ts";
import { NewSchedule, Schedule, ScheduleChanges, ScheduleRun } from "./schedule.ts";
import { DeclaredSchedule } from "./schedule-declaration.ts";
import type { Json } from "./value.ts";
import { Heartbeat, Holding, WorkerRegistered, WorkerRegistration } from "./worker.ts";

type JsonObject = { [key: string]: Json };
type Groups = Readonly<Record<string, Readonly<Record<string, Route>>>>;

/**
 * Schemas that get a name in the document. One with defaults or transforms reads differently before
 * and after parsing, so it belongs to one side; `SHARED` ones have neither.
 */
const SHARED = { EventMeta, Failure, Holding, State, Wait };
const SENT = {
  ...SHARED,
  Checkpoint,
  CheckpointItem,
  Heartbeat,
  NewEvent,
  NewSchedule,
  ProgressBatch,
  Registration,
  ReleaseItem,
  ScheduleChanges,
  WorkerRegistration,
};
const ANSWERED = {
  ...SHARED,
  BasicExecution,
  CheckpointAccepted,
  DeclaredSchedule,
  ErrorBody,
  Event,
  ExecutionError,
  ExecutionRecord,
  ExecutionSummary,
  InspectedExecution,
  ItemRefused,
  Namespace,
  OpenPause,
  RecordedEvent,
  Registered,
  Schedule,
  ScheduleRun,
  SourceIssue,
  WorkerRegistered,
  WorkflowRecord,
};

/** The route table as an OpenAPI 3.1 document. */
export function openApiDocument(
  groups: Groups,
  info: { readonly version: string; readonly title: string },
): JsonObject {
  const sent = converted("input", SENT, schemasOf(groups, sentParts));
  const answered = converted("output", ANSWERED, schemasOf(groups, answeredParts));
  const paths: { [path: string]: JsonObject } = {};
  for (const [group, routes] of Object.entries(groups)) {
    for (const [name, route] of Object.entries(routes)) {
      const id = `${group}.${name}`;
      const path = paths[route.path] ?? {};
      path[route.method.toLowerCase()] = operation(id, group, route, sent.parts, answered.parts);
      paths[route.path] = path;
    }
  }
  const schemas = Object.entries({ ...sent.components, ...answered.components }).sort(byName);
  return {
    openapi: "3.1.0",
    info: { title: info.title, version: info.version },
    paths,
    components: { schemas: Object.fromEntries(schemas) },
  };
}

function byName([a]: [string, unknown], [b]: [string, unknown]): number {
  return a < b ? -1 : 1;
}

type Parts = ReadonlyMap<string, JsonObject>;

function operation(
  id: string,
  tag: string,
  route: Route,
  sent: Parts,
  answered: Parts,
): JsonObject {
  const body = sent.get(`${id} body`);
  return {
    operationId: id,
    tags: [tag],
    summary: route.summary,
    "x-permission": permissionText(route.permission),
    "x-effect": route.effect,
    ...(route.frames && { "x-frames": [...route.frames] }),
    parameters: [
      ...Array.from(route.path.matchAll(/\{(\w+)\}/g), ([, name = ""]) => ({
        name,
        in: "path",
        required: true,
        schema: { type: "string" },
      })),
      ...parameters("query", sent.get(`${id} query`)),
      ...parameters("header", sent.get(`${id} headers`)),
    ],
    ...(body && {
      requestBody: {
        content: { [route.lines ? "application/x-ndjson" : "application/json"]: { schema: body } },
      },
    }),
    responses: responses(id, route, answered),
  };
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

function responses(id: string, route: Route, answered: Parts): JsonObject {
  const listed = Object.entries(route.answers).map(([status, answer]) => {
    if (isRaw(answer)) {
      // Raw JSON is a value that was printed already, of any type.
      const schema = answer.raw === "application/json" ? {} : { type: "string" };
      const content = answer.raw && { content: { [answer.raw]: { schema } } };
      return [status, { description: answer.meaning, ...content }];
    }
    const stream = status === "200" && route.frames && { "text/event-stream": { schema: FRAMES } };
    const content = { "application/json": { schema: answered.get(`${id} ${status}`) ?? {} } };
    return [status, { description: "A result.", content: { ...content, ...stream } }];
  });
  const error = { $ref: reference("ErrorBody") };
  return {
    ...Object.fromEntries(listed),
    default: { description: "An error.", content: { "application/json": { schema: error } } },
  };
}

const FRAMES = { type: "string", description: "server-sent events, named by `x-frames`" };

function reference(name: string): string {
  return `#/components/schemas/${name}`;
}

type NamedSchemas = Readonly<Record<string, z.ZodType>>;

function schemasOf(groups: Groups, partsOf: (route: Route) => NamedSchemas): NamedSchemas {
  const schemas: Record<string, z.ZodType> = {};
  for (const [group, routes] of Object.entries(groups)) {
    for (const [name, route] of Object.entries(routes)) {
      for (const [part, schema] of Object.entries(partsOf(route))) {
        schemas[`${group}.${name} ${part}`] = schema;
      }
    }
  }
  return schemas;
}

function sentParts({ query, headers, body }: Route): NamedSchemas {
  return { ...(query && { query }), ...(headers && { headers }), ...(body && { body }) };
}

function answeredParts({ answers }: Route): NamedSchemas {
  return Object.fromEntries(
    Object.entries(answers).filter((entry): entry is [string, z.ZodType] => !isRaw(entry[1])),
  );
}

/**
 * Converts all schemas of one side at once, so that a named one is defined once and referred to
 * everywhere else, also where it is the whole of a part.
 */
function converted(io: "input" | "output", named: NamedSchemas, parts: NamedSchemas) {
  const registry = z.registry<{ id: string }>();
  const nameOf = new Map(Object.entries(named).map(([name, schema]) => [schema, name]));
  for (const [schema, id] of nameOf) registry.add(schema, { id });
  // A part gets a wrapper of its own: several routes may share one schema.
  for (const [id, schema] of Object.entries(parts)) registry.add(z.tuple([schema]), { id });
  const { schemas } = z.toJSONSchema(registry, { io, uri: reference, unrepresentable: "any" });

  const components: JsonObject = {};
  const byPart = new Map<string, JsonObject>();
  for (const [id, schema] of Object.entries(schemas)) {
    const { $schema: _, $id: __, ...rest } = schema;
    const json = (io === "output" ? open(rest as Json) : (rest as Json)) as JsonObject;
    if (Object.hasOwn(parts, id)) byPart.set(id, (json["prefixItems"] as JsonObject[])[0] ?? {});
    else components[id] = json;
  }
  return { components, parts: byPart };
}

/** Answers may gain fields: a reader must not refuse one it does not know. */
function open(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(open);
  if (typeof schema !== "object" || schema === null) return schema;
  const kept = Object.entries(schema).filter(
    ([key, value]) => !(key === "additionalProperties" && value === false),
  );
  return Object.fromEntries(kept.map(([key, value]) => [key, open(value)]));
}
