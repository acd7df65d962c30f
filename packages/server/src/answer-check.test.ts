import { expect, test } from "vitest";
import { AnswerCheck } from "./answer-check.ts";

const check = new AnswerCheck();
const JSON_TYPE = "application/json; charset=utf-8";
const STREAM = "text/event-stream; charset=utf-8";
const refused = (code: string) => JSON.stringify({ error: { code, message: "no" } });

function misfit(asked: string, status: number, text: string, type: string = JSON_TYPE) {
  const [method = "", path = ""] = asked.split(" ");
  return check.misfit({ method, path, status, type, text });
}

test.each([
  ["GET /ready?x=1", 200, '{"status":"ready"}'],
  ["GET /ready", 503, '{"status":"not_ready"}'],
  ["GET /ready", 503, refused("unavailable")],
  ["POST /workflows/a/b/resume/c", 409, refused("not_paused")],
  ["GET /nowhere/at/all", 404, refused("not_found")],
  ["DELETE /health", 405, refused("method_not_allowed")],
  // Fixed first segments are no workflow names.
  ["POST /health/x", 405, refused("method_not_allowed")],
  ["GET /executions/a/events/1/value", 200, "[1]"],
  ["HEAD /health", 200, ""],
  ["DELETE /schedules/a", 204, "", ""],
] as const)(
  "an answer that the document lists fits: %s %i",
  (asked, status, text, type?: string) => {
    expect(misfit(asked, status, text, type)).toBeUndefined();
  },
);

test.each([
  ["GET /ready", 200, '{"status":"maybe"}', /must be equal to one of/],
  ["GET /ready", 200, "{}", /must have required property 'status'/],
  ["GET /ready", 200, "no", /no JSON/],
  ["GET /ready", 202, '{"status":"ready"}', /does not list/],
  ["GET /ready", 418, '{"status":"ready"}', /required property 'error'/],
  ["POST /a/b", 500, "{}", /must have required property/],
  ["GET /nowhere/at/all", 404, "not found", /no JSON/],
  ["GET /nowhere/at/all", 200, "{}", /does not list/],
  ["POST /health", 200, "{}", /does not list/],
  ["DELETE /schedules/a", 204, "{}", /with a body/],
  ["POST /workflows/a/b/run/async", 200, "{}", /does not list/],
] as const)(
  "an answer that the document does not list is told: %s %i %s",
  (asked, status, text, why) => {
    expect(misfit(asked, status, text)).toMatch(why);
  },
);

test("frames of a stream fit by their name, and what has not come whole is left out", () => {
  const path = "POST /workflows/a/b/run/stream";
  const progress = { type: "TASK_PROGRESS", source_id: "t~1", name: "t", value: 1, time: "now" };
  const frame = (event: string, data: object) =>
    `event: ${event}\nid: 1\ndata: ${JSON.stringify(data)}\n\n`;
  const good = `: ping\n\n${frame("task.progress", progress)}event: hello.execut`;
  expect(misfit(path, 200, good, STREAM)).toBeUndefined();
  expect(misfit(path, 200, frame("task.progress", { ...progress, name: 1 }), STREAM)).toMatch(
    /frame task.progress, but .*name must be string/,
  );
  expect(misfit(path, 200, frame("hello.execution.running", {}), STREAM)).toMatch(/must/);
  expect(misfit(path, 200, frame("surprise", {}), STREAM)).toMatch(/not listed: surprise/);
  expect(misfit(path, 200, "{}")).toMatch(/as "application\/json"/);
});

test("lines fit one by one, refusals among them", () => {
  const path = "POST /workers/w/checkpoints/stream";
  const lines = (...values: string[]) => values.map((value) => `${value}\n`).join("");
  const type = "application/x-ndjson";
  expect(misfit(path, 200, lines('{"items":[]}', refused("not_found")), type)).toBeUndefined();
  expect(misfit(path, 200, lines('{"items":[]}', '{"item":[]}'), type)).toMatch(/'items'/);
});
