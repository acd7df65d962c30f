import { defineConfig } from "vitest/config";

// Workspace packages are tested from their sources, without a build.
const ssr = { resolve: { conditions: ["@engine/source", "node"] } };

/** Every answer of a server in a test is what the OpenAPI document says. */
const CHECK_ANSWERS = "packages/server/src/testing/check-answers.ts";

export default defineConfig({
  test: {
    projects: [
      {
        ssr,
        test: {
          name: "unit",
          setupFiles: ["scripts/src/property-seed.ts", CHECK_ANSWERS],
          include: [
            "packages/*/src/**/*.test.ts",
            "scripts/src/**/*.test.ts",
            "benchmarks/src/**/*.test.ts",
          ],
        },
      },
      {
        ssr,
        test: {
          name: "e2e",
          include: ["e2e/src/**/*.test.ts"],
          setupFiles: [CHECK_ANSWERS],
          testTimeout: 120_000,
          // Starting real servers on a busy machine takes more than the ten seconds of the default.
          hookTimeout: 120_000,
          fileParallelism: false,
        },
      },
      {
        ssr,
        test: {
          name: "simulation",
          include: ["simulation/src/**/*.test.ts"],
          testTimeout: 180_000,
        },
      },
      {
        ssr,
        test: { name: "examples", include: ["examples/src/**/*.test.ts"], testTimeout: 120_000 },
      },
    ],
  },
});
