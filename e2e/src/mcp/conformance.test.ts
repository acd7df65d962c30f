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

interface Judged extends Pick<SuiteRun, "suite" | "revision"> {
  /** What passes without exception, whatever the baseline says. */
  readonly passes: readonly string[];
  /** The same where there are sessions. */
  readonly inSessions?: readonly string[];
}

const RUNS: readonly Judged[] = [
  { suite: "0.1.16", revision: "2025-11-25", passes: INITIALIZED },
  {
    suite: "0.2.0-alpha.12",
    revision: "2025-11-25",
    passes: INITIALIZED,
    inSessions: ["server-session-lifecycle", "server-sse-multiple-streams"],
  },
  {
    suite: "0.2.0-alpha.12",
    revision: "2026-07-28",
    passes: ["dns-rebinding-protection", "http-header-validation", ...TOOLS],
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
  async ({ endpoint, suite, revision, passes, inSessions = [] }) => {
    const verdict = await runSuite({ suite, revision, url: service.urlOf(endpoint) });
    expect(verdict.complaint).toBe("");
    const expected = endpoint === "gateway" ? [...passes, ...inSessions] : passes;
    expect(verdict.passed).toEqual(expect.arrayContaining([...expected]));
  },
);
