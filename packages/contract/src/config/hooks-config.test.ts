import { expect, test } from "vitest";
import { resolveConfig } from "./resolve-config.ts";

test("HOOK-54 without a word of it hooks are enabled, with these limits", () => {
  expect(resolveConfig({}).config?.hooks).toEqual({
    enabled: true,
    hop_limit: 3,
    drain_batch_size: 20,
    snapshot_ttl_seconds: 5,
    event_drain: true,
    max_value_bytes: 65_536,
    backoff_base: 2,
    backoff_max: 300,
  });
});

test.each([
  ["hop_limit", 1, 100],
  ["drain_batch_size", 1, 10_000],
  ["snapshot_ttl_seconds", 0, 3600],
  ["max_value_bytes", 1024, 1_048_576],
  ["backoff_base", 0.1, 300],
  ["backoff_max", 2, 3600],
])("HOOK-54 hooks.%s is from %d to %d, as given or by default", (key, min, max) => {
  for (const value of [min, max]) {
    expect(resolveConfig({ file: { hooks: { [key]: value } } }).config?.hooks).toMatchObject({
      [key]: value,
    });
  }
});

test.each([
  ["hop_limit", 0],
  ["hop_limit", 101],
  ["hop_limit", 1.5],
  ["drain_batch_size", 0],
  ["drain_batch_size", 10_001],
  ["snapshot_ttl_seconds", -1],
  ["snapshot_ttl_seconds", 3601],
  ["max_value_bytes", 1023],
  ["max_value_bytes", 1_048_577],
  ["backoff_base", 0.05],
  ["backoff_base", 3601],
  ["backoff_max", 0],
  ["backoff_max", 3601],
  ["enabled", "perhaps"],
  ["event_drain", 1],
])("HOOK-54 hooks.%s of %j is refused, and the key is named", (key, value) => {
  const { problems } = resolveConfig({ file: { hooks: { [key]: value } } });
  expect(problems?.map((problem) => problem.key)).toContain(`engine.hooks.${key}`);
});

test("HOOK-54 the first delay is never longer than the longest, whichever of them is set", () => {
  const message = "must be at most backoff_max";
  expect(resolveConfig({ file: { hooks: { backoff_base: 301 } } }).problems).toEqual([
    { key: "engine.hooks.backoff_base", message },
  ]);
  expect(resolveConfig({ env: { ENGINE_HOOKS__BACKOFF_MAX: "1" } }).problems).toEqual([
    { key: "engine.hooks.backoff_base", message },
  ]);
  const equal = { backoff_base: 7, backoff_max: 7 };
  expect(resolveConfig({ file: { hooks: equal } }).config?.hooks).toMatchObject(equal);
});

test("HOOK-54 a key that is misspelt is named with the nearest one", () => {
  expect(resolveConfig({ file: { hooks: { hop_limits: 3 } } }).problems).toEqual([
    { key: "engine.hooks.hop_limits", message: 'unknown key, did you mean "hop_limit"?' },
  ]);
});
