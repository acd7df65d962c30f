import { expect, test } from "vitest";
import { databaseUrl, resolveConfig } from "./config.ts";

function problems(sources: Parameters<typeof resolveConfig>[0]) {
  return resolveConfig(sources).problems ?? expect.unreachable("the configuration is good");
}

function config(sources: Parameters<typeof resolveConfig>[0] = {}) {
  const result = resolveConfig(sources);
  return result.config ?? expect.unreachable(JSON.stringify(result.problems));
}

test("EXE-97 without any source every key has its default", () => {
  expect(config()).toMatchObject({
    home: ".engine",
    server_url: "http://127.0.0.1:8000",
    log_level: "info",
    server: { host: "127.0.0.1", port: 8000 },
    store: { synchronous: "full" },
    executions: { sync_timeout: 300, sibling_grace: 2, max_events: 100_000 },
    workers: { slots: 64, heartbeat_interval: 10, checkpoint_lanes: 2, labels: {} },
    dispatch: { batch_size: 64, safety_interval: 15 },
  });
  expect(databaseUrl(config())).toBe("sqlite:.engine/engine.db");
  expect(databaseUrl(config({ flags: { database_url: "sqlite:x.db" } }))).toBe("sqlite:x.db");
});

test("EXE-96 the environment wins over the file, flags over both, key by key", () => {
  const { server, workers, home } = config({
    file: {
      home: "a",
      server: { host: "0.0.0.0", port: 1 },
      workers: { labels: { a: "1", b: "1" } },
    },
    env: {
      ENGINE_HOME: "b",
      ENGINE_SERVER__PORT: "2",
      ENGINE_WORKERS__LABELS: '{"b":"2"}',
      ENGINE_WORKERS__RUNNERS: '["inline"]',
    },
    flags: { server: { port: 3 }, workers: { labels: { c: "3" }, slots: undefined } },
  });
  expect(home).toBe("b");
  expect(server).toEqual({ host: "0.0.0.0", port: 3 });
  expect(workers.labels).toEqual({ a: "1", b: "2", c: "3" });
  expect(workers.runners).toEqual(["inline"]);
  expect(workers.slots).toBe(64);
});

test("EXE-96 a value that is text stays text, even when it looks like JSON", () => {
  expect(config({ env: { ENGINE_HOME: "123" } }).home).toBe("123");
  expect(config({ env: { ENGINE_SERVER: '{"port":4}' } }).server.port).toBe(4);
});

test("EXE-96 a bad value is named as its writer wrote it", () => {
  expect(problems({ file: { server: { port: 70_000 } } })).toEqual([
    { key: "engine.server.port", message: expect.stringContaining("65535") },
  ]);
  expect(problems({ env: { ENGINE_SERVER__PORT: "many" } })).toEqual([
    { key: "ENGINE_SERVER__PORT", message: expect.stringContaining("number") },
  ]);
  expect(problems({ file: "all" })).toEqual([{ key: "engine", message: "expected a table" }]);
  expect(problems({ file: { server: 5 } })[0]?.key).toBe("engine.server");
});

test("EXE-96 every problem is reported, an unknown key with the nearest known one", () => {
  expect(
    problems({
      file: { server: { prot: 1 }, homer: "x" },
      env: { ENGINE_WORKERS__SLOT: "3", ENGINE_WORKERS__SLOTS: "-1" },
    }),
  ).toEqual(
    expect.arrayContaining([
      { key: "engine.server.prot", message: expect.stringContaining('"port"') },
      { key: "engine.homer", message: expect.stringContaining('"home"') },
      { key: "ENGINE_WORKERS__SLOT", message: expect.stringContaining('"slots"') },
      { key: "ENGINE_WORKERS__SLOTS", message: expect.any(String) },
    ]),
  );
});

test("variables of others that share the prefix are left alone", () => {
  expect(
    config({ env: { ENGINE_CONFIG: "x.toml", ENGINE_AUTH_TOKEN: "t", ENGINE_FLAVOUR__X: "1" } }),
  ).toEqual(config());
});
