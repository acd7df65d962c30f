import { SourceIssue } from "@engine/contract";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { extractWorkflows } from "./extract.ts";

const SNIPPETS = `
import { task, workflow } from "@engine/sdk";|import * as e from "@engine/sdk";|import "./b.ts";|export * from "./b.ts";
export const a = workflow(|const t = task(|export default workflow(|e.task({|{ name: "a" },|{ name: "b", retry: {|timeout: "1s",
metadata: {|async () => {|=> t()|.with({|})|});|}|(|)|,|;|...|const x = |let y = |x|y.z|export { x };|export { x as w } from "./b.ts"
\`\${|\`|"|'|1n +|+|typeof|delete x.y|x.push(x)|/** doc */|// line|/*|*/|/|{ [x]: 1 }|class A {|function f(|for (const q of x)|if (x)|fetch(x)
process.env.A|import("./b.ts")|<T>|as const|undefined|__proto__|😀|\\u2028|enum E { A }|@|#|\\|0|-1|name|task|workflow
import * as z from "zod";|input: z.object({|z.array(|z.lazy(() =>|.optional()|.extend({|.shape.x|.pick({ x: true })|get x() { return z.array(x); }|z.string()
type A = {|type A<T> = T|interface B extends A {|x: A;|x?: B[];|[k: string]: A|z.infer<typeof x>|Pick<A, "x">|Record<string, B>|async (input: A) => {}) ;|workflow<A, B>({ name: "a" },
import * as r from "@engine/sdk/routing";|import { require, label, input as i } from "@engine/sdk/routing";|affinity: require(|routing: r.score(|limits: [|fairness: {|key: i("a"),|priority: -1,
label("a")|.eq("b")|.lt(3)|r.when(i("a").eq(1),|r.optional(|r.sticky({ weight: 0 })|...[label("a")]|affinity: x,|const x = r.require(`
  .split(/[|\n]/)
  .filter((snippet) => snippet !== "");

const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 200 }),
  fc.array(fc.constantFrom(...SNIPPETS), { maxLength: 40 }).map((snippets) => snippets.join(" ")),
);

test("any text at all gives workflows or issues with a place, never a crash", () => {
  fc.assert(
    fc.property(text, text, (source, other) => {
      const { workflows, issues, warnings } = extractWorkflows({
        entry: "a.ts",
        files: [
          { path: "a.ts", source },
          { path: "b.ts", source: other },
        ],
      });
      expect(workflows.length > 0).toBe(issues.length === 0);
      for (const issue of [...issues, ...warnings]) {
        SourceIssue.parse(issue);
        const file = issue.file === "a.ts" ? source : other;
        const line = file.split(/\r\n|\n|\r/)[issue.line - 1];
        expect(line).toBeDefined();
        expect(issue.column).toBeLessThanOrEqual((line?.length ?? 0) + 1);
        expect(issue.expression.length).toBeLessThanOrEqual(200);
      }
    }),
    { numRuns: 1_000 },
  );
});

test("a file cut off anywhere is refused or read, never a crash", () => {
  const whole = `import { task, workflow } from "@engine/sdk";
const t = task({ name: "t", retry: { maxAttempts: 1 + 1 } }, async (x: { a: \`\${string}\` }) => x);
export const a = workflow({ name: "a", ...{ timeout: "1s" } }, async (x) => { for (const y of [x]) await t(y); });
import * as z from "zod"; type In<T> = { a: T; b?: In<T>[] } & Record<"c" | "d", z.infer<typeof S>>;
const S = z.object({ get s() { return S.optional(); }, e: z.enum(["x"]).default(() => "x") }).extend({ ...{ t: z.lazy(() => S) } });
export const b = workflow({ name: "b", output: S }, async (x: In<string>): Promise<void> => {});`;
  for (let end = 0; end <= whole.length; end++) {
    const files = [{ path: "a.ts", source: whole.slice(0, end) }];
    const { workflows, issues } = extractWorkflows({ entry: "a.ts", files });
    expect(workflows.length > 0).toBe(issues.length === 0);
  }
});
