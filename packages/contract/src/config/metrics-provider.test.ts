import { expect, test } from "vitest";
import { parseMetricsProvider } from "./metrics-provider.ts";
import { resolveConfig } from "./resolve-config.ts";

test.each([
  ["./metrics.ts#collect", { path: "./metrics.ts", name: "collect" }],
  ["./metrics.mjs", { path: "./metrics.mjs", name: "default" }],
  ["/a#b/metrics.js#collect", { path: "/a#b/metrics.js", name: "collect" }],
])("WMD-5 %s names a file and an export", (text, expected) => {
  expect(parseMetricsProvider(text)).toEqual(expected);
});

test.each(["#collect", "./metrics.ts#", "./metrics.ts#a b"])(
  "WMD-5 %j stops the start, with what was expected",
  (text) => {
    const { problems } = resolveConfig({ env: { ENGINE_WORKERS__METRICS_PROVIDER: text } });
    expect(problems).toEqual([
      {
        key: "ENGINE_WORKERS__METRICS_PROVIDER",
        message: expect.stringContaining('"./metrics.ts#collect"'),
      },
    ]);
  },
);

test("WMD-3 sockets are a table, or one JSON object in the environment, merged key by key", () => {
  const { config } = resolveConfig({
    file: { workers: { services: { inference: "/run/a.sock", cache: "/run/c.sock" } } },
    env: { ENGINE_WORKERS__SERVICES: '{"inference":"/run/b.sock"}' },
  });
  expect(config?.workers.services).toEqual({ inference: "/run/b.sock", cache: "/run/c.sock" });
});

test.each(["Inference", "in ference", "a--b", "a".repeat(33)])(
  "WMD-3 a socket named %j stops the start and is named",
  (name) => {
    const { problems } = resolveConfig({ flags: { workers: { services: { [name]: "/s" } } } });
    expect(problems?.[0]?.key).toBe(`engine.workers.services.${name}`);
  },
);
