import { parsePackageRequest } from "@engine/contract";
import fc from "fast-check";
import { validRange } from "semver";
import { expect, test } from "vitest";
import { extractWorkflows } from "./extract.ts";

const SDK = `import { task, workflow } from "@engine/sdk";\n`;

function extract(source: string, others: Readonly<Record<string, string>> = {}) {
  const files = Object.entries({ "main.ts": source, ...others });
  return extractWorkflows({
    entry: "main.ts",
    files: files.map(([path, text]) => ({ path, source: text })),
  });
}

/** The first record of a file that nothing is wrong with. */
function recordOf(source: string, others: Readonly<Record<string, string>> = {}) {
  const { workflows, issues } = extract(source, others);
  expect(issues).toEqual([]);
  return workflows[0];
}

const requesting = (requests: string) =>
  `${SDK}export const w = workflow({ name: "w", requests: ${requests} }, async () => {});`;

/** Issues as \`rule path file:line:column expression\`. */
function issuesOf(source: string, others: Readonly<Record<string, string>> = {}) {
  return extract(source, others).issues.map(
    ({ rule, path, file, line, column, expression }) =>
      `${rule} ${path} ${file}:${line}:${column} ${expression}`,
  );
}

test("RES-1 a record holds what a workflow requests in cores, bytes and devices, and its packages as written", () => {
  const all = `{ cpu: 0.5, memory: "1.5GiB", disk: 1000, gpu: 2, packages: ["sharp", "@acme/fonts@^1.2 || 3"] }`;
  expect(recordOf(requesting(all))?.requests).toEqual({
    cpu: 0.5,
    memory: 1_610_612_736,
    disk: 1000,
    gpu: 2,
    packages: ["sharp", "@acme/fonts@^1.2 || 3"],
  });
  expect(recordOf(requesting("{}"))?.requests).toBeNull();
});

test("RES-1 requests are read through constants, spreads and other files, as every option is", () => {
  const source = `${SDK}import { LARGE, unit } from "./sizes.ts";
const base = { ...LARGE, cpu: 2 } as const;
export const w = workflow({ name: "w", requests: { ...base, disk: \`\${10}\${unit}\` } }, async () => {});`;
  const sizes = `export const unit = "GB"; const MANY = ["a@1", "b"];
export const LARGE = { cpu: 8, memory: 4 + "GiB", packages: [...MANY, "c"] };`;
  expect(recordOf(source, { "sizes.ts": sizes })?.requests).toEqual({
    cpu: 2,
    memory: 4_294_967_296,
    disk: 10_000_000_000,
    packages: ["a@1", "b", "c"],
  });
});

test("RES-1 whatever else is requested is refused at its place", () => {
  const source = `${SDK}export const w = workflow({
  name: "w",
  requests: {
    cpu: 0,
    memory: "16 gigs",
    disk: "1PB",
    gpu: 1.5,
    ram: 1,
    packages: ["sharp@latest"],
  },
}, async () => {});`;
  expect(issuesOf(source)).toEqual([
    "invalid_option workflows[0].requests.cpu main.ts:5:10 0",
    'invalid_option workflows[0].requests.memory main.ts:6:13 "16 gigs"',
    'invalid_option workflows[0].requests.disk main.ts:7:11 "1PB"',
    "invalid_option workflows[0].requests.gpu main.ts:8:10 1.5",
    "invalid_option workflows[0].requests.ram main.ts:9:10 1",
    'invalid_option workflows[0].requests.packages main.ts:10:15 ["sharp@latest"]',
  ]);
});

test("RES-1 a wrong amount in another file is refused there", () => {
  const source = `${SDK}import { size } from "./size.ts";
export const w = workflow({ name: "w", requests: { ...size } }, async () => {});`;
  expect(issuesOf(source, { "size.ts": `export const size = {\n  memory: "lots",\n};` })).toEqual([
    'invalid_option workflows[0].requests.memory size.ts:2:11 "lots"',
  ]);
});

test("RES-1 requests that are known only at run time are refused", () => {
  const wrong = `{ cpu: cores(), memory: process.env.MEMORY, packages: ["a", process.env.P] }`;
  expect(issuesOf(requesting(wrong))).toEqual([
    "not_static workflows[0].requests.cpu main.ts:2:57 cores()",
    "not_static workflows[0].requests.memory main.ts:2:74 process.env.MEMORY",
    "not_static workflows[0].requests.packages[1] main.ts:2:110 process.env.P",
  ]);
});

test("RES-1 a range that looks like one but is none is told by what it says", () => {
  const { issues } = extract(requesting(`{ packages: ["a@1", "b@01.2.3"] }`));
  expect(issues).toMatchObject([
    { rule: "invalid_option", path: "workflows[0].requests.packages" },
  ]);
  expect(issues[0]?.message).toMatch(/without "b@01\.2\.3" at \[1\]: 01\.2\.3 is no semver range$/);
});

test("RES-1 whatever npm takes for a range may be requested", () => {
  const number = fc.constantFrom("0", "1", "12", "x", "X", "*");
  const parts = fc.array(number, { minLength: 1, maxLength: 3 });
  const version = fc
    .tuple(fc.constantFrom("", "v", "="), parts, fc.constantFrom("", "-beta.1", "+b", "-a+b"))
    .map(([before, numbers, after]) => before + numbers.join(".") + after);
  const operator = fc.constantFrom("", "^", "~", "~>", ">", ">=", "<", "<= ", "> ", "=");
  const comparator = fc.tuple(operator, version).map((both) => both.join(""));
  const part = fc.oneof(
    fc.array(comparator, { minLength: 1, maxLength: 3 }).map((all) => all.join(" ")),
    fc.tuple(version, version).map((both) => both.join(" - ")),
  );
  const range = fc.array(part, { minLength: 1, maxLength: 3 }).map((all) => all.join(" || "));
  fc.assert(
    fc.property(range, (text) => {
      if (validRange(text) !== null) expect(parsePackageRequest(`a@${text}`)?.range).toBe(text);
    }),
  );
});

test("RES-4 a task's record holds the largest requests of the task and of its copies", () => {
  const source = `${SDK}const train = task({ name: "train", requests: { cpu: 4, memory: "1KiB" } }, async () => {});
const small = train.with({ requests: { cpu: 1, memory: "4KiB", gpu: 1 } });
const plain = task({ name: "plain" }, async () => {});
export const w = workflow({ name: "w" }, async () => { await plain(); await small(); });`;
  expect(recordOf(source)?.tasks).toMatchObject([
    { name: "train", requests: { cpu: 4, memory: 4096, gpu: 1 } },
    { name: "plain", requests: null },
  ]);
});

test("RES-4 a task that requests what no budget has is refused at its place", () => {
  const source = `${SDK}const t = task({ name: "t", requests: { disk: 1, cpu: -1 } }, async () => {});
export const w = workflow({ name: "w" }, async () => t.with({ requests: { gpu: 0 } })());`;
  expect(issuesOf(source)).toEqual([
    "invalid_option workflows[0].tasks[0].requests.disk main.ts:2:47 1",
    "invalid_option workflows[0].tasks[0].requests.cpu main.ts:2:55 -1",
    "invalid_option workflows[0].tasks.requests.gpu main.ts:3:80 0",
  ]);
});
