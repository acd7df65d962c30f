import type { ExtractedWorkflow, SourceIssue } from "@engine/contract";
import { expect } from "vitest";
import { type Extraction, extractWorkflows } from "../extract.ts";

/** Of every builder, by its own name. */
export const IMPORTS: string = `import { workflow } from "@engine/sdk";
import { require, score, label, labelFor, meta, metaFor, service, input, routingInput, optional, when,
  prefer, least, most, sticky, metric, resource, load, utilization, concurrency, rate, limit } from "@engine/sdk/routing";
`;

export function extract(source: string, others: Readonly<Record<string, string>> = {}): Extraction {
  const files = Object.entries({ "main.ts": source, ...others });
  return extractWorkflows({
    entry: "main.ts",
    files: files.map(([path, text]) => ({ path, source: text })),
  });
}

/** A file with one workflow. */
export const declaring = (options: string, before = ""): string =>
  `${IMPORTS}${before}export const w = workflow({ name: "w", ${options} }, async () => {});`;

/** The first record of a file that nothing is wrong with. */
export function recordOf(
  source: string,
  others: Readonly<Record<string, string>> = {},
): ExtractedWorkflow | undefined {
  const { workflows, issues } = extract(source, others);
  expect(issues).toEqual([]);
  return workflows[0];
}

export function issuesOf(
  source: string,
  others: Readonly<Record<string, string>> = {},
): readonly SourceIssue[] {
  const { workflows, issues } = extract(source, others);
  if (issues.length > 0) expect(workflows).toEqual([]);
  return issues;
}

/** Expects a wrong option to be refused at its place, and nothing else to be said. */
export function expectRefusal(
  option: string,
  wrong: string,
  { at, says, path = "" }: { at: string; says: RegExp; path?: string | undefined },
): void {
  const issues = issuesOf(declaring(`${option}: ${wrong}`));
  const [first] = issues;
  expect(first?.message).toMatch(says);
  expect(first?.path).toBe(`workflows[0].${option}${path}`);
  expect(first?.rule).toMatch(/invalid_option|unknown_option/);
  expect(first?.expression.slice(0, at.length)).toBe(at);
  expect(
    new Set(issues.map((issue) => issue.path.replace(/^workflows\[0\]\.(\w+).*/, "$1"))),
  ).toEqual(new Set([option]));
}
