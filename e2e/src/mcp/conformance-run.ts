import { readdir, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { createHome, type Home } from "../harness/home.ts";
import { Program } from "../harness/program.ts";

const BASELINE = new URL("./conformance-baseline.yml", import.meta.url);
const require = createRequire(import.meta.url);

/** Releases of the suite, which are nothing but commands. */
const SUITES = {
  "0.1.16": {
    program: require.resolve("@modelcontextprotocol/conformance/dist/index.js"),
    // Its requests by hand say that they are of revision 2025-03-26, which is refused (MCP-14).
    excused: ["server-sse-multiple-streams"],
  },
  /** Only it knows sessions and the revision 2026-07-28. */
  "0.2.0-alpha.12": { program: require.resolve("conformance-2026/dist/index.js"), excused: [] },
};

export interface SuiteRun {
  readonly suite: keyof typeof SUITES;
  readonly revision: string;
  readonly url: string;
}

export interface SuiteVerdict {
  /** Why the suite is not content, with what it says of each check; empty when it is. */
  readonly complaint: string;
  /** Scenarios of which some checks passed and none failed. */
  readonly passed: readonly string[];
}

/** Runs every scenario of a revision against an address, as the suite's users do. */
export async function runSuite({ suite, revision, url }: SuiteRun): Promise<SuiteVerdict> {
  await using home = await createHome();
  const { program, excused } = SUITES[suite];
  const lines = excused.map((scenario) => `  - ${scenario}\n`);
  const text = (await readFile(BASELINE, "utf8")) + lines.join("");
  const baseline = await home.write("baseline.yml", text);
  const words = [
    ...["server", "--url", url, "--suite", "all", "--spec-version", revision],
    ...["--expected-failures", baseline, "--output-dir", home.file("results")],
  ];
  await using command = new Program(`suite ${suite}`, [program, ...words], {
    ...{ cwd: home.path, env: {} },
  });
  const { code, stdout, stderr } = await command.result(RUN_LIMIT_MS);
  const [, summary = ""] = stdout.split("=== SUMMARY ===");
  const passed = [...summary.matchAll(/^✓ (\S+): [1-9]/gm)].map(([, scenario = ""]) => scenario);
  const complaint = code === 0 ? "" : [summary || stdout, stderr, await checksIn(home)].join("\n");
  return { complaint, passed };
}

/** Some forty scenarios, each of which may take half a minute until the suite gives it up. */
const RUN_LIMIT_MS = 100_000;

interface Check {
  readonly id: string;
  readonly status: string;
  readonly errorMessage?: string;
  readonly details?: unknown;
}

/** What did not pass, in the words of the suite; also what the baseline excuses. */
async function checksIn(home: Home): Promise<string> {
  const files = await readdir(home.file("results"), { recursive: true });
  const lines: string[] = [];
  for (const file of files.filter((each) => each.endsWith("checks.json")).toSorted()) {
    const checks = JSON.parse(await readFile(home.file(`results/${file}`), "utf8")) as Check[];
    for (const { id, status, errorMessage, details } of checks) {
      if (status !== "FAILURE" && status !== "WARNING") continue;
      const told = [errorMessage, JSON.stringify(details)].filter(Boolean).join(" ");
      lines.push(`${file}: ${status} ${id}: ${told}`);
    }
  }
  return lines.join("\n");
}
