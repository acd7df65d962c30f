/** `FUZZ_RUNS` sets how many files each property sees. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Config, EngineError } from "@engine/contract";
import * as fc from "fast-check";
import { stringify } from "smol-toml";
import { afterAll, expect, test, vi } from "vitest";
import { loadConfig } from "./load-config.ts";

const numRuns = Number(process.env["FUZZ_RUNS"] ?? 300);
vi.setConfig({ testTimeout: 30_000 + numRuns * 20 });
const cwd = mkdtempSync(join(tmpdir(), "engine-any-config-"));
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

function load(text: string, env: Record<string, string> = {}): Config | EngineError {
  writeFileSync(join(cwd, "engine.toml"), text);
  try {
    return loadConfig({ cwd, env }).config;
  } catch (error) {
    expect(error).toBeInstanceOf(EngineError);
    expect(error).toMatchObject({ code: "invalid_input" });
    return error as EngineError;
  }
}

const PIECES =
  '[engine] [engine.server] [[engine.workers]] port = 8000 host = "0.0.0.0" x = home = "" = [ ] { } , . # \' """ 1979-05-27 07:32:00Z inf nan 0x1f 1_000 true "\\u0000" \\ é'.split(
    " ",
  );
const file = fc.oneof(
  fc.string({ unit: "binary", maxLength: 200 }),
  fc
    .array(fc.constantFrom(...PIECES, " ", "\n", "\n"), { maxLength: 30 })
    .map((all) => all.join("")),
);

test("EXE-96 whatever a configuration file holds is a configuration, or an error that says where", () => {
  fc.assert(
    fc.property(file, (text) => {
      const loaded = load(text);
      if (loaded instanceof EngineError) {
        for (const line of loaded.message.split("\n")) expect(line).toMatch(/\S/);
      }
    }),
    { numRuns },
  );
});

test("EXE-96 whatever stands under a known key is taken, or named by that key", () => {
  const tables = Object.keys(Config.parse({}));
  const value = fc.oneof(
    fc.integer(),
    fc.double({ noNaN: true }),
    fc.boolean(),
    fc.string(),
    fc.array(fc.string(), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom("port", "host", "path", "type", "nope"), fc.string()),
  );
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom(...tables), value), (engine) => {
      const loaded = load(stringify({ engine }));
      if (loaded instanceof EngineError) {
        expect(tables.some((key) => loaded.message.includes(key))).toBe(true);
      }
    }),
    { numRuns },
  );
});

test("EXE-96 a configuration that is written out reads back as it was", () => {
  const home = cwd;
  const known = fc.record({
    server: fc.record({ port: fc.integer({ min: 0, max: 65_535 }), host: fc.constant("::1") }),
    workers: fc.record({
      disconnect_grace: fc.integer({ min: 1, max: 60 }),
      silence_timeout: fc.integer({ min: 30, max: 600 }),
    }),
    retention: fc.record({ enabled: fc.boolean(), batch_size: fc.integer({ min: 1, max: 900 }) }),
  });
  fc.assert(
    fc.property(known, (engine) => {
      const written = { home, ...engine };
      expect(load(stringify({ engine: written }))).toEqual(Config.parse(written));
    }),
    { numRuns: numRuns / 10 },
  );
});

test("EXE-96 whatever an environment variable of the engine says is taken, or named", () => {
  const name = fc.constantFrom(
    "ENGINE_SERVER__PORT",
    "ENGINE_HOME",
    "ENGINE_WORKERS__LABELS",
    "ENGINE_STORAGE",
    "ENGINE_X__",
    "ENGINE___",
  );
  const text = fc.oneof(fc.string({ unit: "binary" }), fc.json(), fc.constantFrom("", "1e9", "{}"));
  fc.assert(
    fc.property(fc.dictionary(name, text), (env) => {
      const loaded = load("", env);
      if (loaded instanceof EngineError) {
        // What stands inside a table given as JSON is named as in the file.
        const names = Object.keys(env).flatMap((key) => [key, tableOf(key)]);
        expect(names.some((key) => loaded.message.includes(key))).toBe(true);
      }
    }),
    { numRuns },
  );
});

function tableOf(variable: string): string {
  return variable.toLowerCase().replaceAll("__", ".").replace("engine_", "engine.");
}

test("EXE-96 a key that every object has is an unknown key like any other", () => {
  for (const loaded of [
    load("[engine.storage.__proto__]\ntype = 's3'"),
    load("", { ENGINE_STORAGE: '{"__proto__":{"type":"s3"}}' }),
    load("[engine.__proto__]\npolluted = true"),
  ]) {
    expect(loaded).toBeInstanceOf(EngineError);
    expect((loaded as EngineError).message).toContain("__proto__: unknown key");
  }
  expect(Object.keys(Object.prototype)).toEqual([]);
});
