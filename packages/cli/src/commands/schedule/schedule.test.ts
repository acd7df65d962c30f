import { Config, type Schedule } from "@engine/contract";
import { type Server, startServer } from "@engine/server";
import { openSqliteStore } from "@engine/store";
import { expect, onTestFinished, test } from "vitest";
import { capturedIo } from "../../io/captured-io.ts";
import { runCli } from "../../run-cli.ts";

const silent = { debug() {}, info() {}, warn() {}, error() {} };
const NOON = Date.parse("2026-01-01T12:00:00.000Z");

/** A server with the workflow shop/sync, whose clock stands at noon, and a user's command line. */
async function start() {
  const clock = () => NOON;
  const store = await openSqliteStore({ path: ":memory:", synchronous: "normal", clock });
  const config = Config.parse({ server: { port: 0 } });
  const options = { config, store, log: silent, version: "1.2.3", clock };
  const server: Server = await startServer(options);
  onTestFinished(async () => {
    await server.close();
    await store.close();
  });
  const source = `import { interval, workflow } from "@engine/sdk";
export const sync = workflow({ name: "sync", namespace: "shop" }, async () => 1);
export const own = workflow(
  { name: "own", namespace: "shop", schedule: interval("1h") },
  async () => 1,
);
`;
  await server.engine.catalog.register({ source }, { by: null });
  return async (args: readonly string[], answer?: boolean) => {
    const io = capturedIo({
      env: { ENGINE_SERVER_URL: server.url },
      confirm: async () => answer,
      now: clock,
    });
    const code = await runCli(["schedule", ...args], io);
    return { code, out: io.printed(), err: io.complained() };
  };
}

test("EXE-95 a schedule is created, shown, changed, paused, resumed, triggered and deleted", async () => {
  const schedule = await start();
  const nine = ["--cron", "0 9 * * 1-5", "--timezone", "Europe/Berlin"];
  const created = await schedule([
    ...["create", "shop/sync", "prices", ...nine, "--overlap", "queue", "--catch-up", "none"],
    ...["--input", '{"full":false}', "-r", "gpu=a100", "--run-as", "reports", "--version", "1"],
  ]);
  expect(created).toMatchObject({ code: 0, err: "" });
  expect(created.out).toMatch(/^● active {2}prices$/m);
  expect(created.out).toMatch(/starts +shop\/sync v1/);
  expect(created.out).toMatch(/fires +0 9 \* \* 1-5 \(Europe\/Berlin\)/);
  expect(created.out).toMatch(/next +in 20 h \(2026-01-02T08:00:00.000Z\)/);
  expect(created.out).not.toContain("a100");

  const json = await schedule(["show", "prices", "--format", "json"]);
  expect(JSON.parse(json.out)).toMatchObject({
    name: "prices",
    namespace: "shop",
    workflow: "sync",
    version: 1,
    overlap: "queue",
    catch_up: "none",
    input: { full: false },
    routing_input_set: true,
    run_as: "reports",
  });

  const updated = await schedule([
    ...["update", "prices", "--every", "15m", "--latest", "--clear-routing-input"],
    ...["--format", "json"],
  ]);
  expect(JSON.parse(updated.out)).toMatchObject({
    spec: { type: "interval", every_seconds: 900 },
    version: null,
    routing_input_set: false,
    input: { full: false },
  });

  expect((await schedule(["pause", "prices"])).out).toMatch(/^‖ paused/);
  expect((await schedule(["resume", "prices"])).out).toMatch(/^● active/);
  expect((await schedule(["history", "prices"])).out).toMatch(/^No runs yet/);
  const triggered = await schedule(["trigger", "prices"]);
  expect(triggered.out).toMatch(/^○ created {2}shop\/sync v1[\s\S]*^ +schedule +prices$/m);
  expect((await schedule(["history", "prices"])).out).toMatch(/^○ created +\S+ +triggered/m);

  const kept = await schedule(["delete", "prices"], false);
  expect(kept).toMatchObject({ code: 1, err: "Nothing was deleted.\n" });
  expect(await schedule(["delete", "prices"])).toMatchObject({ code: 2, out: "" });
  expect(await schedule(["delete", "prices", "--yes"])).toMatchObject({ code: 0 });
  expect(await schedule(["show", "prices"])).toMatchObject({
    code: 1,
    err: "error: no schedule prices; see all of them with: npx engine schedule list\n",
  });
});

test("EXE-95 list shows every schedule, what a workflow declares too", async () => {
  const schedule = await start();
  await schedule(["create", "shop/sync", "later", "--at", "2026-02-01T00:00"]);
  const { out } = await schedule(["list"]);
  expect(out).toMatch(
    /^● active +later +shop\/sync +once at 2026-02-01T00:00:00.000Z +in 30 d 12 h/m,
  );
  expect(out).toMatch(/^● active +shop\.own +shop\/own +every 1 h +in 1 h/m);
  const declared = await schedule(["list", "--source", "code", "--format", "json"]);
  const { items } = JSON.parse(declared.out) as { items: Schedule[] };
  expect(items.map(({ name }) => name)).toEqual(["shop.own"]);
  expect((await schedule(["list", "--status", "disabled"])).out).toMatch(/^No schedules match/);
});

test.each([
  [["create", "shop/sync", "a"], /one of --cron, --every and --at/],
  [["create", "shop/sync", "a", "--cron", "0 9 * * *", "--every", "1h"], /take one of/],
  [["create", "shop/sync", "a", "--every", "1h", "--timezone", "UTC"], /belongs to --cron/],
  [["create", "shop/sync", "a", "--cron", "0 9 * * *", "--end-at", "2027-01-01"], /to --every/],
  [["create", "shop/sync", "a", "--every", "10ms"], /at least a second/],
  [["create", "shop/sync", "a", "--every", "1h", "--overlap", "no"], /Allowed choices/],
  [["create", "shop/sync", "a", "--every", "1h", "-r", "gpu"], /KEY=VALUE/],
  [["create", "shop/sync/x", "a", "--every", "1h"], /NAMESPACE\/NAME/],
  [["update", "a"], /what to change/],
  [["update", "a", "--latest", "--version", "2"], /cannot be used with/],
  [["list", "--status", "asleep"], /Allowed choices/],
])("EXE-95 engine schedule %j is a usage error", async (args, message) => {
  const io = capturedIo();
  expect(await runCli(["schedule", ...args], io)).toBe(2);
  expect(io.complained()).toMatch(message);
});

test("EXE-74 EXE-95 what the server refuses is one line on stderr and exit 1", async () => {
  const schedule = await start();
  const refused = await schedule(["create", "shop/sync", "a", "--cron", "0 99 * * *"]);
  expect(refused).toMatchObject({ code: 1, out: "" });
  expect(refused.err).toBe("error: --cron: Invalid value for hour: 99\n");
  const declared = await schedule(["update", "shop.own", "--every", "2h"]);
  expect(declared.code).toBe(1);
  expect(declared.err).toMatch(/^error: schedule shop\.own is declared by workflow shop\/own/);
});
