import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Config } from "@engine/contract";
import { startServer } from "@engine/server";
import { openSqliteStore } from "@engine/store";
import { expect, onTestFinished, test } from "vitest";
import { capturedIo } from "./io/captured-io.ts";
import { runCli } from "./run-cli.ts";

test("NET-6 a command whose token goes over plain http to another machine says so once, apart from its answer", async () => {
  const home = mkdtempSync(join(tmpdir(), "engine-exposed-"));
  const store = await openSqliteStore({ path: ":memory:", synchronous: "normal", clock: Date.now });
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const config = Config.parse({ home, server: { port: 0 } });
  const server = await startServer({ config, store, log, version: "1.2.3" });
  onTestFinished(async () => {
    await server.close();
    await store.close();
    rmSync(home, { recursive: true });
  });
  const told = async (host: string, token?: string) => {
    const env = { HOME: home, ...(token !== undefined && { ENGINE_AUTH_TOKEN: token }) };
    const io = capturedIo({ env, cwd: home });
    const url = server.url.replace("127.0.0.1", host);
    const args = ["execution", "list", "--format", "json", "--server-url", url];
    expect(await runCli(args, io)).toBe(0);
    expect(JSON.parse(io.printed())).toMatchObject({ total: 0 });
    return io.complained();
  };
  // This machine by an address that may be anybody's.
  expect(await told("0.0.0.0", "made-up-token")).toBe(
    `warning: credentials go to 0.0.0.0:${server.port} over plain http, where others can read them: use https\n`,
  );
  expect(await told("0.0.0.0")).toBe("");
  expect(await told("127.0.0.1", "made-up-token")).toBe("");
  expect(await told("localhost", "made-up-token")).toBe("");
});
