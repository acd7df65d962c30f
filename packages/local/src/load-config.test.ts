import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { loadConfig } from "./load-config.ts";

function folderWith(toml?: string): string {
  const folder = mkdtempSync(join(tmpdir(), "engine-config-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  if (toml !== undefined) writeFileSync(join(folder, "engine.toml"), toml);
  return folder;
}

test("EXE-96 without any source the defaults hold and home lies in the working directory", () => {
  const cwd = folderWith();
  const { config, file } = loadConfig({ cwd, env: {} });
  expect(file).toBeUndefined();
  expect(config.home).toBe(join(cwd, ".engine"));
  expect(config.server.port).toBe(8000);
});

test("EXE-96 file, then environment, then flags: later wins, key by key", () => {
  const cwd = folderWith(
    '[engine.server]\nhost = "a"\nport = 1\n[engine.workers.labels]\nx = "file"\ny = "file"',
  );
  const { config, file } = loadConfig({
    cwd,
    env: { ENGINE_SERVER__PORT: "2", ENGINE_WORKERS__LABELS: '{"y":"env","z":"env"}' },
    flags: { server: { port: 3 }, workers: { labels: { z: "flag" } } },
  });
  expect(config.server).toMatchObject({ host: "a", port: 3 });
  expect(config.workers.labels).toEqual({ x: "file", y: "env", z: "flag" });
  expect(file).toBe(join(cwd, "engine.toml"));
});

test("EXE-96 EXE-97 a relative storage folder starts in the working directory, like home", () => {
  const cwd = folderWith('[engine]\nhome = "state"\n[engine.storage]\npath = "large/values"');
  const { config } = loadConfig({ cwd, env: {} });
  expect([config.home, config.storage.path]).toEqual([
    join(cwd, "state"),
    join(cwd, "large/values"),
  ]);
  const env = { ENGINE_STORAGE__PATH: join(cwd, "elsewhere") };
  expect(loadConfig({ cwd, env }).config.storage.path).toBe(join(cwd, "elsewhere"));
  expect(loadConfig({ cwd: folderWith(), env: {} }).config.storage).not.toHaveProperty("path");
});

test("WMD-3 WMD-5 EXE-96 relative sockets and metrics providers start in the working directory", () => {
  const cwd = folderWith(
    '[engine.workers]\nmetrics_provider = "./metrics.ts#collect"\n[engine.workers.services]\ninference = "run/a.sock"\ncache = "/run/c.sock"',
  );
  const { workers } = loadConfig({ cwd, env: {} }).config;
  expect(workers.metrics_provider).toBe(`${join(cwd, "metrics.ts")}#collect`);
  expect(workers.services).toEqual({ inference: join(cwd, "run/a.sock"), cache: "/run/c.sock" });
  const env = { ENGINE_WORKERS__METRICS_PROVIDER: "metrics.mjs" };
  const other = loadConfig({ cwd: folderWith(), env }).config.workers;
  expect(other.metrics_provider).toMatch(/\/metrics\.mjs#default$/);
  expect(loadConfig({ cwd: folderWith(), env: {} }).config.workers.metrics_provider).toBe("");
});

test("ENGINE_CONFIG names another file, and a missing one is an error that says so", () => {
  const cwd = folderWith();
  writeFileSync(join(cwd, "other.toml"), '[engine]\nlog_level = "debug"');
  expect(loadConfig({ cwd, env: { ENGINE_CONFIG: "other.toml" } }).config.log_level).toBe("debug");
  expect(() => loadConfig({ cwd, env: { ENGINE_CONFIG: "gone.toml" } })).toThrow(
    /gone\.toml cannot be read \(ENGINE_CONFIG names it; ENOENT\)/,
  );
});

test("a file that is not TOML is refused with file, line and column", () => {
  const cwd = folderWith("[engine]\nhome = .engine\n");
  expect(() => loadConfig({ cwd, env: {} })).toThrow(/^engine\.toml:2:\d+: /);
});

test("EXE-96 every wrong value is named by its key, in one go", () => {
  const cwd = folderWith("[engine.server]\nport = 99999\nprot = 1");
  expect(() => loadConfig({ cwd, env: { ENGINE_WORKERS__SLOTS: "many" } })).toThrow(
    /(?=[\s\S]*engine\.server\.port: )(?=[\s\S]*engine\.server\.prot: .*did you mean "port")(?=[\s\S]*ENGINE_WORKERS__SLOTS: )/,
  );
});

test("a table outside [engine] is refused with the place it belongs to", () => {
  const cwd = folderWith("[server]\nport = 1");
  expect(() => loadConfig({ cwd, env: {} })).toThrow(/write it as \[engine\.server\]/);
});
