import { expect, test } from "vitest";
import { databaseUrl } from "./config.ts";
import { resolveConfig } from "./resolve-config.ts";

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
    workers: { slots: 64, heartbeat_interval: 10, checkpoint_lanes: 1, labels: {} },
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
  expect(server).toMatchObject({ host: "0.0.0.0", port: 3 });
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

test("RES-3 resources may be given as bytes or as text with a unit, in the file and the environment", () => {
  const file = { workers: { resources: { cpu: 3.5, memory: "16GiB", gpu: 0 } } };
  const env = { ENGINE_WORKERS__RESOURCES__DISK: "1000", ENGINE_WORKERS__RESOURCES__MEMORY: "2GB" };
  expect(config({ file, env }).workers.resources).toEqual({
    cpu: 3.5,
    memory: "2GB",
    disk: 1000,
    gpu: 0,
  });
});

test("RES-3 a resource that is no amount is named with its key, and with what would be one", () => {
  const resources = { cpu: -1, memory: "16 gigs", disk: true, gpu: 1.5, ram: 1 };
  const env = { ENGINE_WORKERS__RESOURCES__DISK: "lots" };
  const found = problems({ file: { workers: { resources } }, env });
  expect(found.map(({ key }) => key).toSorted()).toEqual([
    "ENGINE_WORKERS__RESOURCES__DISK",
    "engine.workers.resources.cpu",
    "engine.workers.resources.gpu",
    "engine.workers.resources.memory",
    "engine.workers.resources.ram",
  ]);
  const message = (of: string) => found.find(({ key }) => key.endsWith(of))?.message;
  expect(message("memory")).toMatch(/^expected bytes, .*"16GiB"; got "16 gigs"$/);
  expect(problems({ file: { workers: { resources: { disk: true } } } })).toEqual([
    { key: "engine.workers.resources.disk", message: expect.stringContaining('"16GiB"') },
  ]);
});

test("NET-4 NET-5 names have no port and origins are written as browsers send them", () => {
  const server = (given: object) => resolveConfig({ file: { server: given } });
  const right = {
    allowed_hosts: ["engine.internal", "*"],
    cors_allow_origins: ["https://a.b:8443", "*"],
  };
  expect(server(right).config?.server).toMatchObject(right);
  for (const wrong of ["engine:8000", "http://engine", ""]) {
    expect(server({ allowed_hosts: [wrong] }).config).toBeUndefined();
  }
  for (const wrong of ["https://a.b/", "a.b", "**", "null", "https://A.b", "ftp://a.b"]) {
    expect(server({ cors_allow_origins: [wrong] }).config).toBeUndefined();
  }
});
