import { expect, test } from "vitest";
import * as z from "zod";
import { PENDING_DROPPED_HEADER } from "../routes/hooks.ts";
import { AnyJson } from "../values/any-json.ts";
import type { Permission } from "./permission.ts";
import { isRaw, type RawAnswer, type Route } from "./route.ts";
import { routes } from "./routes.ts";

const table: readonly (readonly [name: string, route: Route])[] = Object.entries(routes).flatMap(
  ([group, rows]) =>
    Object.entries<Route>(rows).map(([name, row]) => [`${group}.${name}`, row] as const),
);

/** The fields of an answer; none for one that is no object. */
function fieldsOf(answer: Route["answers"][number] | undefined): readonly string[] {
  if (answer === undefined || isRaw(answer) || !(answer instanceof z.ZodObject)) return [];
  return Object.keys(answer.shape);
}

function isScoped(permission: Permission): boolean {
  if (permission.kind === "all" || permission.kind === "any") return permission.of.some(isScoped);
  return permission.kind === "scoped";
}

test("NET-7 every list has the same shape, and every route that filters by right is one", () => {
  const lists = table.filter(
    ([, { method, answers }]) => method === "GET" && fieldsOf(answers[200]).includes("items"),
  );
  expect(lists.length).toBeGreaterThan(5);
  for (const [name, { answers }] of lists) {
    const fields = fieldsOf(answers[200]).filter((field) => field !== "auth_filtered");
    expect([name, fields]).toEqual([name, ["items", "total", "limit", "offset"]]);
  }
  // A take-over passes over what the caller may not run: it is no list, and tells only numbers.
  const scoped = table.filter(
    ([name, { permission }]) => isScoped(permission) && name !== "executions.takeOver",
  );
  for (const [name] of scoped) expect(lists.map(([list]) => list)).toContain(name);
});

test("NET-7 HOOK-36 every DELETE answers 204 without a body; that of a hook tells what was dropped by a header", () => {
  const rows = table.filter(([, { method }]) => method === "DELETE");
  expect(rows.length).toBeGreaterThan(2);
  for (const [name, { answers }] of rows) {
    const { headers } = answers[204] as RawAnswer;
    const told = headers ? Object.keys(headers.shape) : [];
    expect([name, told]).toEqual([name, name === "hooks.delete" ? [PENDING_DROPPED_HEADER] : []]);
    const answer = { raw: null, meaning: expect.any(String), ...(headers && { headers }) };
    expect([name, answers]).toEqual([name, { 204: answer }]);
  }
});

test("NET-7 every body and query with named fields refuses one that is unknown", () => {
  for (const [name, { body, query }] of table) {
    for (const [part, schema] of Object.entries({ body, query })) {
      if (schema === undefined) continue;
      // What a worker says of executions may have more fields from one of a later release.
      const isOfWorker = name.startsWith("workers.");
      const open = openPlaces(schema, part).filter((place) => !isOfWorker || place === part);
      expect([name, open]).toEqual([name, []]);
    }
  }
});

/** Where objects of a schema would take any field; a schema may hold itself. */
function openPlaces(
  schema: z.core.$ZodType,
  path: string,
  above: readonly z.core.$ZodType[] = [],
): readonly string[] {
  if (schema === AnyJson || above.includes(schema)) return [];
  const inside = (inner: z.core.$ZodType, place = path) =>
    openPlaces(inner, place, [...above, schema]);
  if (schema instanceof z.ZodObject) {
    const fields = Object.entries(schema.shape as Record<string, z.core.$ZodType>);
    const places = fields.flatMap(([field, value]) => inside(value, `${path}.${field}`));
    return schema.def.catchall instanceof z.ZodNever ? places : [path, ...places];
  }
  if (
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault
  ) {
    return inside(schema.unwrap());
  }
  if (schema instanceof z.ZodArray) return inside(schema.element, `${path}[]`);
  if (schema instanceof z.ZodUnion) return schema.options.flatMap((option) => inside(option));
  return schema instanceof z.ZodPipe ? inside(schema.in) : [];
}

test("RED-3 RED-5 nothing is answered as it is but secrets that were asked for, tokens that are made, the worker protocol, and whether the server is well", () => {
  const plain = table.filter(([, { redact }]) => redact === false).map(([name]) => name);
  const workers = Object.keys(routes.workers).map((name) => `workers.${name}`);
  expect(plain.toSorted()).toEqual(
    [
      ...workers,
      ...["joinTokens.create", "principals.createKey", "secrets.get"],
      ...["system.health", "system.ready"],
    ].toSorted(),
  );
});
