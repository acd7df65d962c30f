import type { SourceIssue } from "@engine/contract";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Engine, startEngine } from "../harness/engine.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await startEngine({ workers: [] });
});
afterAll(() => engine[Symbol.asyncDispose]());

interface Refusal {
  readonly error: { code: string; message: string; details: { issues: SourceIssue[] } };
}

interface BadFile {
  readonly title: string;
  readonly rule: RegExp;
  readonly line: number;
  readonly column: number;
  /** The source text the issue points at; left out where it is not one expression. */
  readonly expression?: string;
  readonly source: string;
}

const SDK = 'import { workflow } from "@engine/sdk";';

const BAD_FILES: readonly BadFile[] = [
  {
    title: "a file that does not parse",
    rule: /^syntax_error$/,
    line: 3,
    column: 40,
    source: `${SDK}\nexport const fine = workflow({ name: "fine" }, () => 1);\nexport const broken = workflow({ name: = "broken" }, () => 1);\n`,
  },
  {
    title: "a workflow without a name",
    rule: /./,
    line: 3,
    column: 25,
    source: `${SDK}\nexport const fine = workflow({ name: "fine" }, () => 1);\nexport const nameless = workflow(() => 1);\n`,
  },
  {
    title: "two workflows of one name in a file",
    rule: /^duplicate_workflow$/,
    line: 3,
    column: 0,
    source: `${SDK}\nexport const a = workflow({ name: "twice" }, () => 1);\nexport const b = workflow({ name: "twice" }, () => 2);\n`,
  },
  {
    title: "an option that is not static",
    rule: /^not_static$/,
    line: 3,
    column: 0,
    expression: "process.env.NAME",
    source: `${SDK}\nexport const fine = workflow({ name: "fine" }, () => 1);\nexport const named = workflow({ name: process.env.NAME }, () => 1);\n`,
  },
];

test.each(BAD_FILES)(
  "EXE-62 EXE-64 $title is refused with its place and its text, and nothing of the file is kept",
  async ({ rule, line, column, expression, source }) => {
    const refused = await engine.http.post<Refusal>("/workflows", { source });
    expect(refused.status).toBe(422);
    expect(refused.body.error.code).toBe("invalid_input");
    const [issue] = refused.body.error.details.issues;
    expect(issue).toMatchObject({ rule: expect.stringMatching(rule), line });
    expect(issue?.column).toBeGreaterThan(0);
    if (column) expect(issue?.column).toBe(column);
    if (expression) expect(issue?.expression).toBe(expression);
    expect(issue?.message.length).toBeGreaterThan(10);
    const listed = await engine.http.get<{ total: number }>("/workflows");
    expect(listed.body.total).toBe(0);
  },
);

test.each(BAD_FILES)(
  "EXE-95 the command prints $title as file:line:column, rule and message, and exits 1",
  async ({ line, source }) => {
    const file = await engine.home.write("bad.ts", source);
    const { code, stderr, stdout } = await engine.cli("workflow", "register", file);
    expect(code).toBe(1);
    expect(stderr + stdout).toMatch(new RegExp(`bad\\.ts:${line}:\\d+ \\S+ .+`));
    expect(stderr + stdout).not.toMatch(/\n\s+at /);
    const listed = await engine.http.get<{ total: number }>("/workflows");
    expect(listed.body.total).toBe(0);
  },
);

test("EXE-60 a file with an effect at its top is parsed, never run", async () => {
  const trace = engine.home.file("trace.txt");
  const source = `import { writeFileSync } from "node:fs";\n${SDK}\nwriteFileSync(${JSON.stringify(trace)}, "ran");\nthrow new Error("never");\nexport const quiet = workflow({ name: "quiet" }, () => 1);\n`;
  const { status } = await engine.http.post("/workflows", { source });
  expect(status).toBe(201);
  await expect(import("node:fs/promises").then((fs) => fs.readFile(trace))).rejects.toThrow(
    /ENOENT/,
  );
});
