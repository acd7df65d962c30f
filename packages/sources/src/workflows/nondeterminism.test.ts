import { expect, test } from "vitest";
import { extractWorkflows } from "./extract.ts";

function warnings(body: string, before = "") {
  const source = `import { task, workflow } from "@engine/sdk";
import fs, { readFileSync } from "node:fs";
import * as os from "os";
import { env } from "node:process";
import nodeCrypto, { createHash, hash, randomBytes, randomUUID } from "node:crypto";
import * as path from "node:path";
import { inspect } from "util";
import assert from "node:assert/strict";
import timers, { setImmediate as soon, setTimeout as later } from "node:timers";
import { scheduler, setTimeout as sleep } from "node:timers/promises";
import zlib, { gunzipSync } from "node:zlib";
${before}
export const w = workflow({ name: "w" }, async () => {
${body}
});`;
  const read = extractWorkflows({ entry: "main.ts", files: [{ path: "main.ts", source }] });
  expect(read.issues).toEqual([]);
  return read.warnings;
}

test.each([
  ["fetch('x')", "fetch('x')", "in a task"],
  ["globalThis.fetch('x')", "globalThis.fetch('x')", "in a task"],
  ["performance.now()", "performance.now()", "Date.now"],
  ["process.env.HOME", "process.env.HOME", "pass it as input"],
  ["process.hrtime.bigint()", "process.hrtime.bigint()", "in a task"],
  ["readFileSync('x')", "readFileSync('x')", "in a task"],
  ["fs.promises.readFile('x')", "fs.promises.readFile('x')", "in a task"],
  ["os.hostname()", "os.hostname()", "in a task"],
  ["env.HOME", "env.HOME", "in a task"],
  ["crypto.getRandomValues([])", "crypto.getRandomValues([])", "use crypto.randomUUID"],
  ["globalThis.crypto.getRandomValues([])", "globalThis.crypto.getRandomValues([])", "randomUUID"],
  ["randomBytes(4)", "randomBytes(4)", "in a task"],
  ["nodeCrypto.randomInt(4)", "nodeCrypto.randomInt(4)", "in a task"],
  ["setImmediate(next)", "setImmediate(next)", "use setTimeout"],
  ["soon(next)", "soon(next)", "use setTimeout"],
  ["timers.setImmediate(next)", "timers.setImmediate(next)", "use setTimeout"],
  ["AbortSignal.timeout(10)", "AbortSignal.timeout(10)", "use setTimeout"],
  ["[1].map(() => fetch('x'))", "fetch('x')", "in a task"],
  ["scheduler.yield()", "scheduler.yield()", "use setTimeout"],
  ["crypto.subtle.digest('SHA-256', [])", "crypto.subtle.digest('SHA-256', [])", "createHash"],
  ["nodeCrypto.scrypt('a', 'b', 8)", "nodeCrypto.scrypt('a', 'b', 8)", "in a task"],
  ["new CompressionStream('gzip')", "new CompressionStream('gzip')", "gzipSync"],
  ["zlib.gzip('x', next)", "zlib.gzip('x', next)", "gzipSync"],
  ["WebAssembly.compile([])", "WebAssembly.compile([])", "where the module loads"],
])("EXE-65 %s in a body is a warning with its place and a fix", (code, expression, fix) => {
  expect(warnings(`  const x = await ${code};`)).toEqual([
    {
      workflow: "default/w",
      path: "workflows[0].body",
      rule: "nondeterministic_call",
      message: expect.stringContaining(fix),
      file: "main.ts",
      line: 14,
      column: `  const x = await ${code}`.indexOf(expression) + 1,
      expression,
    },
  ]);
});

test("EXE-65 a function the body calls is warned about where it is written, once", () => {
  const before =
    "function load() { return fetch('x'); }\nexport const v = workflow({ name: 'v' }, async () => load());";
  expect(warnings("return load();", before)).toMatchObject([
    { line: 12, column: 26, expression: "fetch('x')" },
  ]);
});

test("EXE-65 tasks, a shadowed name and code outside functions give no warning", () => {
  const before = `const home = process.env.HOME;
const get = task({ name: "get", fallback: () => fetch("y") }, async () => { readFileSync("x"); return fetch("x"); });
function quiet(fetch: () => void, process: { env: object }) { fetch(); return process.env; }`;
  expect(
    warnings("await get(); quiet(() => {}, { env: {} }); Date.now(); return home;", before),
  ).toEqual([]);
});

test.each([
  "path.join('a', 'b')",
  "inspect(1)",
  "assert.equal(1, 1)",
  "randomUUID() + nodeCrypto.randomUUID() + crypto.randomUUID()",
  "createHash('sha256').update('x').digest('hex') + hash('sha256', 'x')",
  "nodeCrypto.createHmac('sha256', 'k').update('x').digest()",
  "nodeCrypto.timingSafeEqual(Buffer.from('x'), Buffer.from('y'))",
  "nodeCrypto.scryptSync('a', 'b', 8)",
  "gunzipSync(zlib.gzipSync('x'))",
  "scheduler.wait(5)",
  "later(() => {}, 5)",
  "timers.setInterval(() => {}, 5)",
  "sleep(5)",
  "[Date.now(), new Date(), Math.random()]",
  "setTimeout(() => {}, 5)",
])("EXE-65 %s in a body replays as it was and gives no warning", (code) => {
  expect(warnings(`  await ${code};`)).toEqual([]);
});
