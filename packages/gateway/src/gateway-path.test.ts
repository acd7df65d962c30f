import { EngineError, routes } from "@engine/contract";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { isReserved, lookUp, readTarget } from "./gateway-path.ts";

const ID = "0198c0de-0000-7000-8000-000000000001";

function read(line: string): unknown {
  const [method = "", url = ""] = line.split(" ");
  try {
    return readTarget(method, url, "billing");
  } catch (error) {
    if (error instanceof EngineError) return `${error.status} ${error.code}`;
    throw error;
  }
}

test.each([
  ["POST /invoice", "run", "sync", "/services/billing/invoice"],
  ["POST /invoice/sync", "runMode", "sync", "/services/billing/invoice/sync"],
  ["POST /invoice/async", "runMode", "async", "/services/billing/invoice/async"],
  ["POST /invoice/stream", "runMode", "stream", "/services/billing/invoice/stream"],
  [`POST /invoice/resume/${ID}`, "resume", "sync", `/services/billing/invoice/resume/${ID}`],
  [
    `POST /invoice/resume/${ID}/async`,
    "resumeMode",
    "async",
    `/services/billing/invoice/resume/${ID}/async`,
  ],
  [`GET /invoice/status/${ID}`, "status", "status", `/services/billing/invoice/status/${ID}`],
  [`GET /invoice/stream/${ID}`, "stream", "follow", `/services/billing/invoice/stream/${ID}`],
])(
  "GW-1 GW-2 GW-3 GW-4 GW-10 %s goes to the same path below the service",
  (line, row, manner, path) => {
    const expected = { kind: "call", row, manner, path, workflow: "invoice" };
    expect(read(line)).toMatchObject(expected);
    expect(read(line.replace(" /", " /services/billing/"))).toEqual(read(line));
    expect(read(`${line}?detailed=true&version=2`)).toEqual(read(line));
  },
);

test("GW-1 the paths are those of the table", () => {
  // The protocol has an address of its own at the root.
  const rows = Object.entries(routes.services).filter(
    ([row, { path }]) => path.startsWith("/services/{service}/") && row !== "mcp",
  );
  for (const [row, { method, path }] of rows) {
    const filled = path
      .replace("/services/{service}", "")
      .replace("{workflow}", "invoice")
      .replace("{mode}", "async")
      .replace("{execution_id}", ID);
    expect(read(`${method} ${filled}`)).toMatchObject({ kind: "call", row });
  }
  expect(rows).toHaveLength(6);
});

test.each([
  ["GET /health", "health"],
  ["HEAD /health", "health"],
  ["GET /openapi.json", "openapi"],
  ["POST /mcp", "mcp"],
  ["GET /mcp", "mcp"],
  ["DELETE /mcp?x=1", "mcp"],
  ["GET /.well-known/oauth-protected-resource", "metadata"],
  ["GET /.well-known/oauth-protected-resource/mcp", "metadata"],
  ["GET /%68ealth", "health"],
])("GW-5 GW-6 GW-7 GW-8 %s is the gateway's own", (line, kind) => {
  expect(read(line)).toMatchObject({ kind });
});

test.each(["health", "mcp", "openapi.json"])(
  "GW-9 %s is reserved whatever the method, and a workflow of that name runs below the service",
  (name) => {
    expect(isReserved(name)).toBe(true);
    expect(read(`PUT /${name}`)).toBe("405 method_not_allowed");
    expect(read(`POST /${name}/sync`)).toBe("404 not_found");
    expect(read(`GET /${name}/status/${ID}`)).toBe("404 not_found");
    expect(read(`POST /services/billing/${name}/sync`)).toMatchObject({ workflow: name });
    expect(read(`GET /services/billing/${name}/status/${ID}`)).toMatchObject({ workflow: name });
  },
);

test("GW-9 no request reaches the MCP endpoint that the server has below a service", () => {
  expect(read("POST /services/billing/mcp")).toBe("404 not_found");
  expect(read("POST /services/billing/%6dcp")).toBe("404 not_found");
  expect(read("GET /services/billing/mcp/tools")).toBe("405 method_not_allowed");
  expect(read("POST /services/billing/mcp/tools")).toBe("400 bad_request");
});

test("GW-9 only the words themselves are reserved", () => {
  for (const name of ["mcp_billing", "healthy", "service", "MCP", "openapi.jsons"]) {
    expect(isReserved(name)).toBe(false);
    expect(read(`POST /${name}`)).toMatchObject({ kind: "call", workflow: name });
  }
  expect(read("POST /.well-known")).toBe("404 not_found");
  expect(read("POST /services")).toBe("404 not_found");
});

test.each([
  "POST /services/other/invoice",
  "POST /services/billing",
  "POST /services/billing/",
  "GET /services/billing",
  "PUT /services/billing",
  "DELETE /services/billing",
  "POST /services/Billing/invoice",
  "POST /services/billing/services/billing/invoice",
  "POST /services/../services/billing/invoice",
  "POST /services%2Fbilling%2Finvoice",
  "GET /.well-known%2foauth-protected-resource",
])("GW-4 GW-13 %s is nothing of this service", (line) => {
  expect(read(line)).toBe("404 not_found");
});

test.each([
  "POST /",
  "POST //",
  "POST //invoice",
  "POST /invoice/",
  "POST /invoice//sync",
  `POST /invoice/resume/${ID}/`,
  "POST /..",
  "POST /.",
  "POST /.hidden",
  "POST /%2e%2e",
  "POST /%2e%2e%2fworkflows",
  "POST /invoice%2fasync",
  "POST /invoice%2Fasync/sync",
  "POST /invoice%5c..",
  "POST /../../workflows/default/x/run/sync",
  "POST /invoice/../../workflows",
  "POST /%00",
  "POST /invoice%00",
  "POST /invoice%0a",
  "POST /%252e%252e",
  "POST /invoice%",
  "POST /%c3%28",
  "POST /%E2%82%AC",
  "POST /-invoice",
  "POST /in:voice",
  "POST /in@voice",
  "POST /in;voice",
  `POST /${"n".repeat(129)}`,
  `POST /${"n".repeat(10_000)}`,
  "POST http://billing.example/invoice",
  "POST invoice",
  "OPTIONS *",
  "POST /invoice/other/1",
  "POST /invoice/resume/1/async/2",
])("GW-13 %s is not found", (line) => {
  expect(read(line)).toBe("404 not_found");
});

test.each([
  "..",
  ".",
  "%2e%2e%2f",
  "%2e%2e",
  "a%2fb",
  "a.b",
  "a_b",
  "%00",
  "a%20b",
  "%c3%bc",
  "x".repeat(65),
])("GW-13 no execution has the id %s", (id) => {
  expect(read(`GET /invoice/status/${id}`)).toBe("404 not_found");
  expect(read(`GET /invoice/stream/${id}`)).toBe("404 not_found");
  expect(read(`POST /invoice/resume/${id}`)).toBe("404 not_found");
  expect(read(`POST /invoice/resume/${id}/sync`)).toBe("404 not_found");
});

test("GW-13 the longest name and the longest id are taken", () => {
  const [name, id] = ["n".repeat(128), "x".repeat(64)];
  expect(read(`GET /${name}/status/${id}`)).toMatchObject({ workflow: name, execution_id: id });
});

test.each(["later", "SYNC", "status", "..", "%2e%2e", "sync%00", "%2f"])(
  "GW-13 the mode %s is refused with those that there are",
  (mode) => {
    for (const path of [`/invoice/${mode}`, `/invoice/resume/${ID}/${mode}`]) {
      expect(() => readTarget("POST", path, "billing")).toThrow(
        expect.objectContaining({
          code: "bad_request",
          details: { allowed: ["sync", "async", "stream"] },
        }),
      );
    }
  },
);

test.each([
  ["GET", "/invoice", ["POST"]],
  ["OPTIONS", "/invoice", ["POST"]],
  ["PUT", "/invoice/sync", ["POST"]],
  ["GET", `/invoice/resume/${ID}`, ["POST"]],
  ["DELETE", `/services/billing/invoice/resume/${ID}/async`, ["POST"]],
  ["POST", `/invoice/status/${ID}`, ["GET", "HEAD"]],
  ["POST", `/invoice/stream/${ID}`, ["GET", "HEAD"]],
  ["POST", "/health", ["GET", "HEAD"]],
  ["POST", "/openapi.json", ["GET", "HEAD"]],
  ["PUT", "/mcp", ["DELETE", "GET", "POST"]],
  ["POST", "/.well-known/oauth-protected-resource", ["GET", "HEAD"]],
])("GW-9 GW-13 %s %s is told which methods there are", (method, path, allow) => {
  expect(() => readTarget(method, path, "billing")).toThrow(
    expect.objectContaining({ code: "method_not_allowed", details: { allow } }),
  );
  expect(lookUp(path, "billing")?.methods).toEqual(allow);
});

test("GW-13 a path that is none has no methods", () => {
  expect(lookUp("/a/b/c/d/e", "billing")).toBeUndefined();
});

test("GW-10 GW-13 whatever is asked for, only plain segments below the service reach the server", () => {
  const piece = fc.oneof(
    fc.constantFrom("/", "/", "..", ".", "%2e", "%2f", "%00", "\\", ";", "?", "#", "@", ID),
    fc.constantFrom("/invoice/", "resume", "status", "stream", "/services/billing/", "mcp", "sync"),
    fc.string({ unit: "binary", maxLength: 3 }),
  );
  const path = fc.array(piece, { maxLength: 8 });
  const method = fc.constantFrom("GET", "POST", "HEAD");
  const plain = /^\/services\/billing(?:\/[A-Za-z0-9_][A-Za-z0-9_.-]*|\/-[A-Za-z0-9-]*)+$/;
  const isSafe = (verb: string, url: string) => {
    try {
      const target = readTarget(verb, url, "billing");
      if (target.kind !== "call") return true;
      return plain.test(target.path) && target.path !== "/services/billing/mcp";
    } catch (error) {
      return error instanceof EngineError;
    }
  };
  fc.assert(
    fc.property(method, path, (verb, parts) => isSafe(verb, `/${parts.join("")}`)),
    { numRuns: Number(process.env["FUZZ_RUNS"] ?? 500) },
  );
});
