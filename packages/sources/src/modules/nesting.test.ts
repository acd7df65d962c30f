import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { extractWorkflows } from "../workflows/extract.ts";
import { tooDeepAt } from "./nesting.ts";

test.each([
  ["brackets", "(".repeat(100_000)],
  ["objects", "({a:".repeat(100_000)],
  ["closed arrays", "[".repeat(100_000) + "]".repeat(100_000)],
  ["prefixes", `${"!".repeat(100_000)}a`],
  ["prefixes on lines of their own", `${"typeof\n".repeat(100_000)}a`],
  ["sums", `${"1+".repeat(100_000)}1`],
  ["sums on lines of their own", `${"a\n+".repeat(100_000)}1`],
  ["assignments", `${"a=".repeat(100_000)}1`],
  ["conditionals", `${"a?b:".repeat(100_000)}1`],
  ["arrows", `${"a=>".repeat(100_000)}1`],
  ["statements", `${"if(a)".repeat(100_000)}1`],
  ["statements on lines of their own", `${"if(a)\n".repeat(100_000)}1`],
  ["else", `${"if(a)b;else ".repeat(100_000)}1`],
  ["members", `${"x.".repeat(100_000)}x`],
  ["calls", `x${"()".repeat(100_000)}`],
  ["templates", "`${".repeat(100_000)],
  ["brackets after a template", `\`//\`;${"(".repeat(100_000)}`],
  ["brackets after a regular expression", `a = /["'\`]/;${"(".repeat(100_000)}`],
  ["types", `let x:${"A<x,".repeat(100_000)}`],
])("a file with %s nested endlessly is a located issue, not the end of the server", (_, text) => {
  const { issues } = extractWorkflows({
    entry: "main.ts",
    files: [{ path: "main.ts", source: `const ok = 1;\n${text}` }],
  });
  expect(issues).toMatchObject([
    { rule: "syntax_error", message: expect.stringContaining("nested too deeply") },
  ]);
});

test("long files are not deep files", () => {
  const own = ["./nesting.ts", "../workflows/evaluate.ts", "../workflows/extract.test.ts"].map(
    (path) => readFileSync(new URL(path, import.meta.url), "utf8"),
  );
  for (const text of [...own, ...own.map((each) => each.replaceAll(";", ""))]) {
    expect(tooDeepAt(text.repeat(20))).toBeUndefined();
  }
  expect(tooDeepAt(`[${'{ a: "(", b: 1 },\n'.repeat(20_000)}]`)).toBeUndefined();
  expect(tooDeepAt(`const a = ${"'text' +\n".repeat(1_000)} ''`)).toBeUndefined();
  expect(tooDeepAt(`// ${"(".repeat(1_000)}\n/* ${"[".repeat(1_000)} */`)).toBeUndefined();
});
