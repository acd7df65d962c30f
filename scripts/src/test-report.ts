/** Says last of all which tests of several runs failed: `node scripts/src/test-report.ts <folder> <part>...` */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** What vitest writes about a run with `--reporter=json`, as far as it is told of here. */
interface Report {
  readonly numPassedTests: number;
  readonly testResults: readonly FileResult[];
}

interface FileResult {
  readonly name: string;
  readonly status: string;
  readonly message?: string;
  readonly assertionResults: readonly {
    readonly status: string;
    readonly fullName: string;
    readonly failureMessages?: readonly string[];
  }[];
}

const LINES = 40;

/**
 * What is said of the runs whose reports are in a folder: each test that failed with the beginning of
 * its message, and those that never ended, then how many passed and failed. A run that left no report,
 * one that failed outside its tests (a file that cannot be loaded, a stray rejection), and what never
 * ended of a file count as one failure each. Reports do not tell of strays: that a run failed is said by
 * a file `<part>.failed`.
 */
export function summary(folder: string, parts: readonly string[]): string {
  const told: string[] = [];
  let passed = 0;
  for (const part of parts) {
    const path = join(folder, `${part}.json`);
    if (!existsSync(path)) {
      told.push(`${part}: left no report`);
      continue;
    }
    const report: Report = JSON.parse(readFileSync(path, "utf8"));
    passed += report.numPassedTests;
    const failures = report.testResults.flatMap(failuresOf);
    told.push(...failures);
    const hasFailed = existsSync(join(folder, `${part}.failed`));
    if (hasFailed && failures.length === 0) told.push(`${part}: an error outside its tests`);
  }
  return [...told, `${passed} passed, ${told.length} failed`].join("\n\n");
}

function failuresOf({ name, status, message = "", assertionResults }: FileResult): string[] {
  const failed = assertionResults.filter((test) => test.status === "failed");
  const told = failed.map(
    ({ fullName, failureMessages = [] }) =>
      `FAILED ${name} > ${fullName}\n${brief(failureMessages.join("\n"))}`,
  );
  // The file counts as passed, since nothing of it has failed.
  const [unended, ...others] = assertionResults.filter((test) => test.status === "pending");
  if (unended) {
    const rest = others.length > 0 ? ` and ${others.length} more` : "";
    told.push(`FAILED ${name} > ${unended.fullName}${rest}\n  never ended: its process did`);
  }
  if (told.length > 0) return told;
  return status === "failed" ? [`FAILED ${name}\n${brief(message)}`] : [];
}

function brief(message: string): string {
  const lines = message.split("\n").slice(0, LINES);
  return lines.map((line) => `  ${line.slice(0, 2_000)}`).join("\n");
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [folder = "", ...parts] = process.argv.slice(2);
  console.log(summary(folder, parts));
}
