import { setTimeout as sleep } from "node:timers/promises";
import { resolveConfig } from "@engine/contract";
import { type Log, startServer } from "@engine/server";
import { openStore } from "@engine/store";
import { expect, test } from "vitest";
import { CliProcess } from "../harness/cli-process.ts";
import { fixture } from "../harness/engine-access.ts";
import { joining, secretIn } from "../harness/guarded.ts";
import { createHome } from "../harness/home.ts";
import { Http } from "../harness/http.ts";

const SECONDS = Number(process.env["E2E_IDLE_SECONDS"] ?? 20);
const WORKERS = 5;
const HEARTBEAT_SECONDS = 10;
const FLUSH_SECONDS = 5;
const SAFETY_SECONDS = 15;
/** Statements of one heartbeat flush: its update, and the transaction around it. */
const FLUSH_STATEMENTS = 3;
/** The note that the key of the first admin was used, which comes later, in a transaction. */
const NOTE_STATEMENTS = 3;
/** Statements of one safety round, however many workers there are. */
const ROUND_STATEMENTS = 4;

test.each([
  ["off", false],
  ["on", true],
])(
  "LIV-1 AUTH-57 an idle server with 5 workers sends its database the heartbeat flush and the safety round alone, with authorization %s; who was there is noted beside it",
  {
    timeout: 60_000 + SECONDS * 1_000,
  },
  async (_, isGuarded) => {
    await using home = await createHome();
    const { config, problems } = resolveConfig({
      flags: {
        home: home.file(".engine"),
        server: { port: 0 },
        ...(isGuarded && { security: { auth: { enabled: true } } }),
      },
    });
    if (!config) throw new Error(JSON.stringify(problems));
    const store = await openStore(`sqlite:${home.file("engine.db")}`);
    const server = await startServer({ config, store, log: silent, version: "0.0.0" });
    const key = isGuarded ? await secretIn(home, "admin-key") : undefined;
    const env = {
      ENGINE_HOME: config.home,
      ENGINE_SERVER_URL: server.url,
      ...(key !== undefined && { ENGINE_AUTH_TOKEN: key, ...(await joining(home)) }),
    };
    const engine = (...args: string[]) => new CliProcess(args, { cwd: home.path, env });
    const workers: CliProcess[] = [];
    try {
      for (let i = 0; i < WORKERS; i++) workers.push(engine("start", "worker", `idle-${i}`));
      await Promise.all(workers.map((worker) => worker.printed(/connected/)));
      // Work comes first: an engine that has done something must come to rest again.
      await engine("workflow", "register", fixture("hello")).result();
      const http = new Http(server.url, key);
      for (let i = 0; i < 20; i++) await http.post("/workflows/hello_world/run/sync", `${i}`);
      await sleep(1_000);

      const bursts = await statementBursts(() => store.statementCount(), SECONDS * 1_000);
      const flushes = Math.floor(SECONDS / FLUSH_SECONDS) + 1;
      const rounds = Math.floor(SECONDS / SAFETY_SECONDS) + 1;
      const noted = isGuarded ? NOTE_STATEMENTS : 0;
      const allowed = flushes * FLUSH_STATEMENTS + rounds * ROUND_STATEMENTS + noted;
      const sum = bursts.reduce((total, burst) => total + burst, 0);
      process.stderr.write(`idle for ${SECONDS} s: statements in bursts of ${bursts}\n`);
      expect(bursts.length).toBeLessThanOrEqual(flushes + rounds + Math.sign(noted));
      expect(sum).toBeLessThanOrEqual(allowed);
      // The workers are really there: their heartbeats are flushed, at least once per interval.
      const heartbeats = Math.floor(SECONDS / HEARTBEAT_SECONDS) - 1;
      expect(sum).toBeGreaterThanOrEqual(heartbeats * FLUSH_STATEMENTS);
      expect(await http.post("/workflows/hello_world/run/sync", "awake")).toMatchObject({
        status: 200,
      });
    } finally {
      await Promise.all(workers.map((worker) => worker.kill()));
      await server.close();
      await store.close();
    }
  },
);

/** How many statements came together, for each time any came. */
async function statementBursts(count: () => number, forMs: number): Promise<number[]> {
  const bursts: number[] = [];
  const end = performance.now() + forMs;
  let [seen, quiet] = [count(), true];
  while (performance.now() < end) {
    await sleep(100);
    const now = count();
    if (now > seen) {
      if (quiet) bursts.push(0);
      bursts.push((bursts.pop() ?? 0) + now - seen);
    }
    [seen, quiet] = [now, now === seen];
  }
  return bursts;
}

const silent: Log = { debug() {}, info() {}, warn() {}, error() {} };
