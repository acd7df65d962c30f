import { afterAll, beforeAll, expect, test } from "vitest";
import { runSuite, type SuiteRun } from "./conformance-run.ts";
import {
  type ConformanceService,
  ENDPOINTS,
  startConformanceService,
} from "./conformance-service.ts";

/** Scenarios of tools, which both revisions have. */
const TOOLS = [
  ...["json-schema-2020-12", "tools-call-audio", "tools-call-embedded-resource"],
  ...["tools-call-error", "tools-call-image", "tools-call-mixed-content"],
  ...["tools-call-simple-text", "tools-call-with-progress", "tools-list"],
];
const INITIALIZED = ["dns-rebinding-protection", "ping", "server-initialize", ...TOOLS];

/**
 * What passes without exception. Of what the baseline excuses the suite calls a scenario passed, too,
 * that has warnings alone; and where single checks are excused, the others have to pass all the same.
 */
const RUNS: readonly (Pick<SuiteRun, "suite" | "revision"> & { readonly passes: string[] })[] = [
  { suite: "0.1.16", revision: "2025-11-25", passes: INITIALIZED },
  {
    suite: "0.2.0-alpha.12",
    revision: "2025-11-25",
    passes: [...INITIALIZED, "server-session-lifecycle"],
  },
  {
    suite: "0.2.0-alpha.12",
    revision: "2026-07-28",
    passes: [
      ...["dns-rebinding-protection", "http-header-validation", "server-sse-multiple-streams"],
      ...TOOLS,
    ],
  },
];

let service: ConformanceService;
beforeAll(async () => {
  service = await startConformanceService();
});
afterAll(() => service[Symbol.asyncDispose]());

const CASES = ENDPOINTS.flatMap((endpoint) => RUNS.map((run) => ({ endpoint, ...run })));

test.each(CASES)(
  "MCP-21 the suite $suite is content with the $endpoint in $revision",
  async ({ endpoint, suite, revision, passes }) => {
    // The release cannot name the one check that the server does not pass (MCP-17).
    const excused =
      suite === "0.1.16" && endpoint === "server" ? ["server-sse-multiple-streams"] : [];
    const verdict = await runSuite({ suite, revision, excused, url: service.urlOf(endpoint) });
    expect(verdict.complaint).toBe("");
    expect(verdict.passed).toEqual(expect.arrayContaining(passes));
  },
);
