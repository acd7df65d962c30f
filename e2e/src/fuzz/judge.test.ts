import { expect, test } from "vitest";
import { Judge } from "./judge.ts";
import type { Answer } from "./wire.ts";

const judge = new Judge(["/home/me/engine"]);
const request = { method: "GET", path: "/health", headers: [], body: undefined };
const refused = (message: string) => JSON.stringify({ error: { code: "not_found", message } });

function fault(changes: Partial<Answer>, asked: Parameters<Judge["fault"]>[0] = request) {
  const right = { status: 404, type: "application/json", head: "", text: refused("no") };
  return judge.fault(asked, { ...right, isHung: false, ...changes });
}

test("an answer that the document has is no finding", () => {
  expect(fault({})).toBeUndefined();
  expect(fault({ status: 400 }, { raw: Buffer.from("x") })).toBeUndefined();
  expect(fault({ status: 0, text: "socket hang up" }, { raw: Buffer.from("x") })).toBeUndefined();
  const large = { ...request, body: Buffer.alloc(100_000) };
  expect(fault({ status: 0, text: "write EPIPE" }, large)).toBeUndefined();
});

test.each<[string, Partial<Answer>, RegExp]>([
  ["hangs", { isHung: true }, /stayed open/],
  ["is cut off", { status: 0, text: "socket hang up" }, /without an answer: socket hang up/],
  ["has a stack", { text: refused("x\n    at run (/a.js:1:2)") }, /inside/],
  ["has a statement", { text: refused("INSERT INTO executions") }, /inside/],
  ["has a driver's words", { text: refused("SQLITE_BUSY") }, /inside/],
  ["has a path of this machine", { text: refused("/home/me/engine/engine.db") }, /inside/],
  ["has a path in a header", { head: "x: /home/me/engine" }, /inside/],
  ["is a defect", { status: 500, text: '{"error":{"code":"internal"}}' }, /defect/],
  ["is a defect inside a batch", { text: '{"items":[{"error":{"code":"internal"}}]}' }, /defect/],
  ["is a 500 of nothing", { status: 500 }, /500/],
  ["is not in the document", { status: 200, text: "{}" }, /must have required property/],
])("an answer that %s is a finding", (_, changes, message) => {
  expect(fault(changes)).toMatch(message);
});
