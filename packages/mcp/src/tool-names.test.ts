import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { endpointNames, TOOL_KINDS } from "./tool-names.ts";

function endpoint(name: string, namespace = "default") {
  return { name, ref: `${namespace}/${name}` };
}

function hashed(text: string, key: string): string {
  const hash = createHash("sha256").update(key).digest("hex");
  return `${text.slice(0, 55)}_${hash.slice(0, 8)}`;
}

test("MCP-1 SVC-58 an endpoint has five tools, and a name for its stream", () => {
  expect(endpointNames([endpoint("invoice")]).get("default/invoice")).toEqual({
    run: "invoice",
    async: "invoice_async",
    resume: "resume_invoice",
    resume_async: "resume_invoice_async",
    status: "status_invoice",
    stream: "invoice_stream",
  });
});

test("MCP-2 a workflow called like another's tool keeps its name, and that tool gets another", () => {
  const names = endpointNames([endpoint("x"), endpoint("x_async")]);
  expect(names.get("default/x_async")?.run).toBe("x_async");
  expect(names.get("default/x")).toMatchObject({
    run: "x",
    async: hashed("x_async", "async:default/x"),
    resume_async: hashed("resume_x_async", "resume_async:default/x"),
  });
  expect(names.get("default/x_async")?.resume).toBe("resume_x_async");
  const all = [...names.values()].flatMap((own) => TOOL_KINDS.map((kind) => own[kind]));
  expect(new Set(all).size).toBe(10);
});

test("MCP-2 SVC-58 the stream is named after all tools, and gives way to a workflow of that name", () => {
  const names = endpointNames([endpoint("x"), endpoint("x_stream")]);
  expect(names.get("default/x")?.stream).toBe(hashed("x_stream", "stream:default/x"));
  expect(names.get("default/x_stream")?.run).toBe("x_stream");
});

test("MCP-2 names that are too long are cut, each with a mark of its own", () => {
  const long = "a".repeat(128);
  const names = endpointNames([endpoint(long, "billing")]).get(`billing/${long}`);
  expect(names?.run).toBe(hashed(long, `run:billing/${long}`));
  expect(names?.status).toBe(hashed(`status_${long}`, `status:billing/${long}`));
  for (const name of Object.values(names ?? {})) expect(name).toMatch(/^[A-Za-z0-9_.-]{64}$/);
  expect(new Set(Object.values(names ?? {})).size).toBe(6);
});

test("MCP-2 a run tool of a name of 64 characters keeps it", () => {
  const name = "b".repeat(64);
  expect(endpointNames([endpoint(name)]).get(`default/${name}`)?.run).toBe(name);
});

test("MCP-2 a workflow called like a tool that was cut takes nothing from it", () => {
  const clash = hashed("x_async", "async:default/x");
  const names = endpointNames([endpoint("x"), endpoint("x_async"), endpoint(clash)]);
  expect(names.get(`default/${clash}`)?.run).toBe(clash);
  expect(names.get("default/x")?.async).not.toBe(clash);
  const all = [...names.values()].flatMap((own) => Object.values(own));
  expect(new Set(all).size).toBe(all.length);
});

test("MCP-2 the order in which endpoints are given changes no name", () => {
  const endpoints = [endpoint("x"), endpoint("x_async"), endpoint("resume_x"), endpoint("x", "b")];
  const backwards = endpointNames([...endpoints].reverse());
  for (const [ref, names] of endpointNames(endpoints)) expect(backwards.get(ref)).toEqual(names);
});
