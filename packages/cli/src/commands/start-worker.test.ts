import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sseText, type WorkerFrame, type WorkerRegistered } from "@engine/contract";
import { expect, onTestFinished, test } from "vitest";
import { capturedIo } from "../io/captured-io.ts";
import { runCli } from "../run-cli.ts";

test.each([
  [["--label", "gpu"], {}, /KEY=VALUE/],
  [["--label", "=a100"], {}, /KEY=VALUE/],
  [["--label", "-gpu=a100"], {}, /label -gpu: /],
  [["--label", "engine.zone=eu"], {}, /keys beginning "engine\." belong to the engine/],
  [[], { ENGINE_WORKERS__LABELS: '{"engine.zone":"eu"}' }, /keys beginning "engine\."/],
  [[], { ENGINE_WORKERS__LABELS: "gpu=a100" }, /ENGINE_WORKERS__LABELS.*expected/],
  [[], { ENGINE_WORKERS__LABELS: '{"-gpu":"a100"}' }, /-gpu/],
  [["a b"], {}, /worker name "a b" must be a name/],
  [["local"], {}, /worker name "local" is a reserved name/],
])(
  "WRK-5 `engine start worker` with %j %j stops at start, exit code 2",
  async (args, env, message) => {
    const io = capturedIo({ env });
    expect(await runCli(["start", "worker", ...args], io)).toBe(2);
    expect(io.complained()).toMatch(message);
  },
);

test.each([
  [["--dispatch", "stream"], /event, poll/],
  [["--runner", "container"], /thread, process, inline/],
  [["--drain-timeout", "-1"], /0 = at once/],
  [["--server-url", "engine.internal:8000"], /such as http:/],
  [["--slots", "1.5"], /whole number/],
])("`engine start worker` with %j stops at start, exit code 2", async (args, message) => {
  const io = capturedIo();
  expect(await runCli(["start", "worker", ...args], io)).toBe(2);
  expect(io.complained()).toMatch(message);
});

test("RES-3 an override that is no amount stops the worker at start, exit code 2", async () => {
  const io = capturedIo({ env: { ENGINE_WORKERS__RESOURCES: '{"memory":"lots"}' } });
  expect(await runCli(["start", "worker"], io)).toBe(2);
  expect(io.complained()).toMatch(/resources\.memory.*"16GiB".*got "lots"/);
});

test.each([
  [["--service", "inference"], {}, /NAME=PATH/],
  [
    ["--service", "Inference=/run/a.sock"],
    {},
    /engine\.workers\.services\.Inference: .*lower-case/,
  ],
  [[], { ENGINE_WORKERS__SERVICES: "/run/a.sock" }, /ENGINE_WORKERS__SERVICES.*expected/],
  [[], { ENGINE_WORKERS__SERVICES: '{"a_b":"/run/a.sock"}' }, /a_b/],
])(
  "WMD-3 `engine start worker` with %j %j stops at start, exit code 2",
  async (args, env, message) => {
    const io = capturedIo({ env });
    expect(await runCli(["start", "worker", ...args], io)).toBe(2);
    expect(io.complained()).toMatch(message);
  },
);

test.each([
  ["./metrics.ts#", /ENGINE_WORKERS__METRICS_PROVIDER: expected a file and one of its exports/],
  [
    "./absent.ts#collect",
    /engine\.workers\.metrics_provider: .*absent\.ts cannot be used: .*Cannot find/,
  ],
  [
    "./metrics.ts#other",
    /its export "other" to be a function; got undefined \(it exports: collect\)/,
  ],
])(
  "WMD-5 a metrics provider %j that cannot be used stops the worker at start, exit code 2",
  async (provider, message) => {
    const home = freshHome();
    writeFileSync(join(home, "metrics.ts"), "export const collect = () => ({});");
    const env = { ENGINE_HOME: home, ENGINE_WORKERS__METRICS_PROVIDER: provider };
    const io = capturedIo({ env, cwd: home });
    expect(await runCli(["start", "worker"], io)).toBe(2);
    expect(io.complained()).toMatch(message);
  },
);

function freshHome(): string {
  const home = mkdtempSync(join(tmpdir(), "engine-start-worker-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  return home;
}

type Answer = (path: string, body: string, response: ServerResponse) => void;

async function listen(answer: Answer): Promise<string> {
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => {
      body += chunk;
    });
    request.on("end", () => answer(request.url ?? "", body, response));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Takes a worker in, says one thing to it, and lets it go. */
function listenAndSay(frame: WorkerFrame): Promise<string> {
  const server_time = "2026-01-01T00:00:00.000Z";
  const registered: WorkerRegistered = {
    worker: { name: "builder", labels: {}, slots: 64 },
    protocol: 2,
    session: "secret",
    dispatch: "event",
    heartbeat_seconds: 10,
    executions: {
      sibling_grace: 2,
      inline_wait: 1,
      rollback_timeout: 10,
      max_events: 1_000,
      inline_value_bytes: 1_024,
      max_value_bytes: 1_024,
    },
    credential: null,
  };
  const welcome: WorkerFrame = {
    event: "welcome",
    data: { replica: "replica", server_time, services: [], keep: [], drop: [] },
  };
  return listen((path, _body, response) => {
    const call = path.split("/").at(-1);
    if (call === "connect") {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(sseText(welcome) + sseText(frame));
      return;
    }
    if (call === "disconnect") response.writeHead(204).end();
    else response.end(JSON.stringify(call === "register" ? registered : { server_time, drop: [] }));
  });
}

test("WRK-12 a worker that an operator drains ends with exit code 0", async () => {
  const url = await listenAndSay({ event: "control", data: { command: "drain" } });
  const io = capturedIo({ env: { ENGINE_HOME: freshHome() } });

  expect(await runCli(["start", "worker", "builder", "--server-url", url], io)).toBe(0);
});

test("WRK-4 a worker whose name another process takes ends with exit code 1 and names it", async () => {
  const url = await listenAndSay({ event: "superseded", data: { host: "build-7", pid: 4711 } });
  const io = capturedIo({ env: { ENGINE_HOME: freshHome() } });

  expect(await runCli(["start", "worker", "builder", "--server-url", url], io)).toBe(1);
  expect(io.complained()).toContain("process 4711 on build-7");
});

test("WRK-5 labels of environment and flags are merged key by key, the flags winning", async () => {
  const register = Promise.withResolvers<string>();
  const url = await listen((path, body, response) => {
    if (path === "/workers/register") register.resolve(body);
    response.writeHead(503).end();
  });
  const first = Promise.withResolvers<void>();
  const env = { ENGINE_HOME: freshHome(), ENGINE_WORKERS__LABELS: '{"zone":"eu","gpu":"t4"}' };
  const io = capturedIo({ env });
  const labels = ["--label", "gpu=a100", "--label", "tier=1"];
  const servers = ["--server-url", "http://127.0.0.1:1", "--server-url", url];
  const ended = runCli(["start", "worker", "builder", ...labels, ...servers], {
    ...io,
    stopSignals: () => ({ first: first.promise, second: new Promise(() => {}) }),
  });
  const registration = JSON.parse(await register.promise);
  first.resolve();

  expect(registration).toMatchObject({
    name: "builder",
    labels: { zone: "eu", gpu: "a100", tier: "1" },
    resources: { cpu_total: expect.any(Number) },
  });
  expect(await ended).toBe(0);
  // No server took it in.
  expect(io.complained()).not.toContain('"connected"');
});

test("WMD-3 sockets of file, environment and flags are offered by name, the flags winning", async () => {
  const register = Promise.withResolvers<string>();
  const url = await listen((path, body, response) => {
    if (path === "/workers/register") register.resolve(body);
    response.writeHead(503).end();
  });
  const first = Promise.withResolvers<void>();
  const home = freshHome();
  writeFileSync(join(home, "engine.toml"), '[engine.workers.services]\ncache = "/run/cache.sock"');
  const env = {
    ENGINE_HOME: home,
    ENGINE_WORKERS__SERVICES: '{"inference":"/run/old.sock"}',
  };
  const io = capturedIo({ env, cwd: home });
  const flags = ["--service", "inference=./new.sock", "--service", "search=/run/search.sock"];
  const ended = runCli(["start", "worker", "builder", ...flags, "--server-url", url], {
    ...io,
    stopSignals: () => ({ first: first.promise, second: new Promise(() => {}) }),
  });
  const { services } = JSON.parse(await register.promise) as { services: string[] };
  first.resolve();

  expect(services.sort()).toEqual(["cache", "inference", "search"]);
  expect(await ended).toBe(0);
});
