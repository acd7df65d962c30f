/** The schemas of the route table as JSON Schema: what the OpenAPI document is made of. */
import * as z from "zod";
import {
  Namespace,
  Registered,
  Registration,
  SourceIssue,
  WorkflowRecord,
} from "../definitions/catalog.ts";
import { ErrorBody } from "../errors/errors.ts";
import { Failure } from "../errors/failure.ts";
import {
  BasicExecution,
  ExecutionError,
  ExecutionHook,
  ExecutionRecord,
  ExecutionSummary,
  InspectedExecution,
  OpenPause,
  State,
  Wait,
} from "../executions/execution.ts";
import { DeliveryRecord, DetailedDelivery } from "../hooks/delivery.ts";
import { HookEnvelope } from "../hooks/envelope.ts";
import { DetailedHook, HookRecord, HookUpdate, NewHook } from "../hooks/hook.ts";
import { Event, EventMeta, SentEvent } from "../log/event.ts";
import { RecordedEvent } from "../log/recorded-event.ts";
import { NewSchedule, Schedule, ScheduleChanges, ScheduleRun } from "../schedules/schedule.ts";
import { DeclaredSchedule } from "../schedules/schedule-declaration.ts";
import type { Json } from "../values/value.ts";
import {
  Checkpoint,
  CheckpointAccepted,
  CheckpointItem,
  ItemRefused,
} from "../workers/checkpoint.ts";
import { ProgressBatch } from "../workers/progress.ts";
import { ReleaseItem } from "../workers/release.ts";
import { Heartbeat, Holding, WorkerRegistered, WorkerRegistration } from "../workers/worker.ts";
import { Assignment } from "../workers/worker-frame.ts";
import { DetailedWorkerRecord, WorkerRecord } from "../workers/worker-record.ts";
import { isRaw, type Route } from "./route.ts";

export type JsonObject = { [key: string]: Json };
export type Groups = Readonly<Record<string, Readonly<Record<string, Route>>>>;

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
  HookUpdate,
  NewEvent: SentEvent,
  NewHook,
  NewSchedule,
  ProgressBatch,
  Registration,
  ReleaseItem,
  ScheduleChanges,
  WorkerRegistration,
};
const ANSWERED = {
  ...SHARED,
  Assignment,
  BasicExecution,
  CheckpointAccepted,
  DeclaredSchedule,
  DeliveryRecord,
  DetailedDelivery,
  DetailedHook,
  DetailedWorkerRecord,
  ErrorBody,
  ErrorInfo: ErrorBody.shape.error,
  Event,
  ExecutionError,
  ExecutionHook,
  ExecutionRecord,
  ExecutionSummary,
  HookEnvelope,
  HookRecord,
  InspectedExecution,
  ItemRefused,
  Namespace,
  OpenPause,
  RecordedEvent,
  Registered,
  Schedule,
  ScheduleRun,
  SourceIssue,
  WorkerRecord,
  WorkerRegistered,
  WorkflowRecord,
};

/** Each part of each route by its key, such as `executions.list query`. */
export interface Schemas {
  readonly components: {
    readonly schemas: JsonObject;
    /**
     * Bodies that have defaults. Generators take a field with a default for a field that is always
     * there. That is true of answers; of requests it is true only of schemas that are named as bodies.
     */
    readonly requestBodies: JsonObject;
  };
  readonly parts: ReadonlyMap<string, JsonObject>;
}

export function schemasOf(groups: Groups): Schemas {
  const sent = converted("input", SENT, partsOf(groups, sentParts));
  const answered = converted("output", ANSWERED, partsOf(groups, answeredParts));
  const named = Object.entries(sent.components);
  const bodies = named.filter(([, schema]) => hasDefault(schema));
  const plain = named.filter(([, schema]) => !hasDefault(schema));
  return {
    components: {
      schemas: sorted({ ...Object.fromEntries(plain), ...answered.components }),
      requestBodies: sorted(
        Object.fromEntries(
          bodies.map(([name, schema]) => [
            name,
            { content: { "application/json": { schema } }, required: true },
          ]),
        ),
      ),
    },
    parts: new Map([...sent.parts, ...answered.parts]),
  };
}

export function reference(name: string): string {
  return `#/components/schemas/${name}`;
}

function sorted(record: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function hasDefault(schema: Json): boolean {
  if (typeof schema !== "object" || schema === null) return false;
  return Object.entries(schema).some(([key, value]) => key === "default" || hasDefault(value));
}

type NamedSchemas = Readonly<Record<string, z.ZodType>>;

function partsOf(groups: Groups, of: (route: Route) => NamedSchemas): NamedSchemas {
  const schemas: Record<string, z.ZodType> = {};
  for (const [group, routes] of Object.entries(groups)) {
    for (const [name, route] of Object.entries(routes)) {
      Object.assign(schemas, prefixed(`${group}.${name}`, of(route)));
    }
  }
  return schemas;
}

function sentParts({ params = {}, query, headers, body }: Route): NamedSchemas {
  return {
    ...prefixed("param", params),
    ...(query && { query }),
    ...(headers && { headers }),
    ...(body && { body }),
  };
}

function answeredParts({ answers, frames = {}, lines }: Route): NamedSchemas {
  const parts: Record<string, z.ZodType> = {};
  for (const [status, answer] of Object.entries(answers)) {
    if (!isRaw(answer)) parts[status] = answer;
    else if (answer.headers) parts[`${status} headers`] = answer.headers;
  }
  return { ...parts, ...prefixed("frame", frames), ...(lines && { lines }) };
}

function prefixed(prefix: string, schemas: NamedSchemas): NamedSchemas {
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [`${prefix} ${name}`, schema]),
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

/** Answers may gain fields, and no field of theirs is left out: neither is a default of use. */
function open(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(open);
  if (typeof schema !== "object" || schema === null) return schema;
  const kept = Object.entries(schema).filter(
    ([key, value]) => !(key === "additionalProperties" && value === false) && key !== "default",
  );
  return Object.fromEntries(kept.map(([key, value]) => [key, open(value)]));
}
