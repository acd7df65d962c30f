import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { leftOut, NEEDS_THE_MACHINE } from "./scripts/src/test-parts.ts";

// Workspace packages are tested from their sources, without a build.
const ssr = { resolve: { conditions: ["@engine/source", "node"] } };

/** Every answer of a server in a test is what the OpenAPI document says. */
const CHECK_ANSWERS = "packages/server/src/testing/check-answers.ts";

// `npm test` and its siblings say which part of the tests they are; vitest alone runs all of them.
const exclude = ["**/node_modules/**", ...leftOut(process.env["TEST_PART"])];

const unit = {
  setupFiles: ["scripts/src/property-seed.ts", CHECK_ANSWERS],
  // Nothing is measured by it: on a machine that does much else a test takes as long as it needs.
  testTimeout: 30_000,
};

/** Unit tests that change what their process is, or start threads and processes of their own. */
const ALONE = [
  "packages/{cli,local,store,worker}/src/**/*.test.ts",
  "packages/sdk/src/node/replay-safe/**/*.test.ts",
];

const e2e = {
  setupFiles: [CHECK_ANSWERS],
  testTimeout: 120_000,
  // Starting real servers on a busy machine takes more than the ten seconds of the default.
  hookTimeout: 120_000,
};

export default defineConfig({
  test: {
    // A report names what was found nearly whole: CI's is all that is left of a run. Without any bound a
    // message takes the memory of the process where it shows a route with all its schemas, also unread.
    chaiConfig: { truncateThreshold: 10_000 },
    // Tests wait for processes and databases much of the time: a file more keeps every core busy.
    maxWorkers: availableParallelism() + 1,
    projects: [
      {
        ssr,
        test: {
          ...unit,
          name: "unit",
          // Reading the sources anew for each file would take longer than the tests.
          isolate: false,
          include: [
            "packages/*/src/**/*.test.ts",
            "scripts/src/**/*.test.ts",
            "benchmarks/src/**/*.test.ts",
          ],
          exclude: [...exclude, ...ALONE],
        },
      },
      { ssr, test: { ...unit, name: "unit-alone", include: ALONE, exclude } },
      {
        ssr,
        test: {
          ...e2e,
          name: "e2e",
          include: ["e2e/src/**/*.test.ts"],
          exclude: [...exclude, ...NEEDS_THE_MACHINE],
          // Processes that start, and waits for what they say: while one file waits another goes on.
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
      {
        ssr,
        test: {
          ...e2e,
          name: "e2e-alone",
          include: [...NEEDS_THE_MACHINE],
          exclude,
          fileParallelism: false,
          sequence: { groupOrder: 2 },
        },
      },
      {
        ssr,
        test: {
          name: "simulation",
          include: ["simulation/src/**/*.test.ts"],
          exclude,
          testTimeout: 600_000,
        },
      },
      {
        ssr,
        test: { name: "examples", include: ["examples/src/**/*.test.ts"], testTimeout: 120_000 },
      },
    ],
  },
});
