import { expect, test } from "vitest";
import * as z from "zod";
import { EngineError, ERRORS, ErrorBody, notFound } from "./errors.ts";
import { invalidInput } from "./invalid-input.ts";

test("NET-7 an error crosses the wire whole and comes back as the same error", () => {
  const error = new EngineError("not_paused", "no open pause", { details: { state: "RUNNING" } });
  const body = ErrorBody.parse(JSON.parse(JSON.stringify(error.toBody())));
  expect(body).toEqual({
    error: { code: "not_paused", message: "no open pause", details: { state: "RUNNING" } },
  });
  const again = EngineError.from(body);
  expect(again).toBeInstanceOf(EngineError);
  expect(again).toBeInstanceOf(Error);
  expect([again.code, again.message, again.details, again.status]).toEqual([
    "not_paused",
    "no open pause",
    { state: "RUNNING" },
    409,
  ]);
  expect(new EngineError("internal", "x").toBody()).toEqual({
    error: { code: "internal", message: "x" },
  });
});

test("an error of another copy of this package is an EngineError, a mere look-alike is not", () => {
  const foreign = Object.assign(new Error("x"), { [Symbol.for("engine.error")]: true });
  expect(foreign).toBeInstanceOf(EngineError);
  for (const other of [new Error("x"), { code: "not_found", message: "x" }, null, "not_found"]) {
    expect(other instanceof EngineError).toBe(false);
  }
});

test("EXE-99 codes travel under the statuses of the specification", () => {
  const statuses = Object.fromEntries(
    Object.entries(ERRORS).map(([code, { status }]) => [code, status]),
  );
  expect(statuses).toMatchObject({
    bad_request: 400,
    not_found: 404,
    conflict: 409,
    workflow_failed: 500,
    workflow_cancelled: 409,
    execution_finished: 409,
    not_paused: 409,
    ambiguous_pause: 409,
    local_execution: 409,
    stale_claim: 409,
    payload_too_large: 413,
    invalid_input: 422,
    internal: 500,
    invalid_definition: null,
    no_execution: null,
    no_local_host: null,
  });
});

test("every code says in a sentence what it means", () => {
  for (const [code, { meaning }] of Object.entries(ERRORS)) {
    expect(meaning, code).toMatch(/^[A-Z`].{15,}\.$/);
  }
});

test("NET-7 a 404 says what kind of thing was looked for", () => {
  expect(notFound("workflow", "shop/checkout")).toMatchObject({
    message: "no workflow shop/checkout",
    details: { resource: "workflow" },
  });
});

const Schema = z.strictObject({
  name: z.string(),
  list: z.array(z.strictObject({ n: z.number() })).optional(),
  labels: z.record(z.string().regex(/^a/, "must begin with a"), z.string()).optional(),
  either: z
    .union([z.strictObject({ a: z.string(), b: z.string() }), z.strictObject({ c: z.string() })])
    .optional(),
});

function issuesOf(value: unknown, prefix?: string) {
  const { error } = Schema.safeParse(value);
  return invalidInput(error ?? expect.unreachable("it fits"), prefix).details?.["issues"];
}

test("NET-7 each wrong field is one issue with its path as a reader writes it", () => {
  expect(issuesOf({ list: [{ n: 1 }, { n: "2" }], extra: 1, other: 2 }, "body")).toEqual([
    { path: "body.name", message: "expected string, which is missing" },
    { path: "body.list[1].n", message: "expected number, received string" },
    { path: "body.extra", message: "is unknown" },
    { path: "body.other", message: "is unknown" },
  ]);
  expect(issuesOf({ name: "x", labels: { b: "1" } })).toEqual([
    { path: "labels.b", message: "key must begin with a" },
  ]);
});

test("of several alternatives the one that fits best says what is wrong", () => {
  expect(issuesOf({ name: "x", either: { a: "1", b: 2 } })).toEqual([
    { path: "either.b", message: "expected string, received number" },
  ]);
});

test("the message of an invalid input names the first issue and counts the rest", () => {
  const { error } = Schema.safeParse({ extra: 1 });
  expect(invalidInput(error ?? expect.unreachable("it fits"), "query").message).toBe(
    "query.name: expected string, which is missing (and 1 more)",
  );
});
