import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { trustCaFile } from "@engine/client";
import { Config } from "@engine/contract";
import { type Server, startServer } from "@engine/server";
import { openSqliteStore, type Store } from "@engine/store";
import { httpLink } from "@engine/worker";
import { afterAll, beforeAll, expect, test } from "vitest";
import { capturedIo } from "./io/captured-io.ts";
import { runCli } from "./run-cli.ts";
import { certificates } from "./testing/certificates.ts";

const folder = mkdtempSync(join(tmpdir(), "engine-ca-"));
let server: Server;
let store: Store;

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

beforeAll(async () => {
  store = await openSqliteStore({ path: ":memory:", synchronous: "normal", clock: Date.now });
  const tls = {
    cert_file: file("cert.pem", certificates.server),
    key_file: file("key.pem", certificates.serverKey),
  };
  const config = Config.parse({ home: folder, server: { port: 0, tls } });
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  server = await startServer({ config, store, log, version: "1.2.3" });
});

afterAll(async () => {
  await server.close();
  await store.close();
  rmSync(folder, { recursive: true });
});

async function health(env: Record<string, string> = {}) {
  const io = capturedIo({ env, cwd: folder });
  const code = await runCli(["health", "--server-url", server.url], io);
  return { code, text: io.printed() + io.complained() };
}

test("NET-6 a file of authorities that is of no use is named, and nothing is called without it", async () => {
  const cut = certificates.authority.replace("MII", "AAA");
  for (const [path, meaning] of [
    [join(folder, "nowhere.pem"), "cannot be read (ENOENT)"],
    [file("empty.pem", ""), "holds no certificate in PEM"],
    [file("cut.pem", cut), "holds a certificate that cannot be read"],
  ] as const) {
    const { code, text } = await health({ ENGINE_CA_FILE: path });
    expect([code, text]).toEqual([
      1,
      expect.stringContaining(`ENGINE_CA_FILE: ${path} ${meaning}`),
    ]);
  }
});

test("NET-6 client and worker trust the authorities of ENGINE_CA_FILE, and nobody's before", async () => {
  expect(server.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
  const link = httpLink({ baseUrl: server.url });
  const ref = { worker: "w", session: "none" };
  const { code, text } = await health();
  expect([code, text]).toEqual([1, expect.stringContaining("set ENGINE_CA_FILE")]);
  await expect(link.disconnect(ref)).rejects.toThrow(/certificate/);

  const ENGINE_CA_FILE = file("ca.pem", `# ours\n${certificates.server}${certificates.authority}`);
  expect(await health({ ENGINE_CA_FILE })).toMatchObject({ code: 0 });
  expect((await health({ ENGINE_CA_FILE })).text).toContain("healthy");
  // Refused by the engine, over TLS.
  await expect(link.disconnect(ref)).rejects.toMatchObject({ code: "session_unknown" });
  expect(() => trustCaFile(undefined)).not.toThrow();
});
