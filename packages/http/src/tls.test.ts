import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { type RequestOptions, request } from "node:https";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect as connectTls, type DetailedPeerCertificate, type TLSSocket } from "node:tls";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type App, createApp } from "./create-app.ts";
import type { RouteTable } from "./handlers.ts";
import { listen } from "./listen.ts";
import { answer } from "./reply.ts";
import { certificates } from "./testing/certificates.ts";
import { Tls, type TlsSettings, tlsProblems } from "./tls.ts";

const routes = {
  things: {
    read: {
      method: "GET",
      path: "/read",
      summary: "-",
      permission: { kind: "open" },
      effect: "read",
      answers: { 204: { raw: null, meaning: "-" } },
    },
  },
} as const satisfies RouteTable;

let folder: string;
let app: App | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "engine-tls-"));
});
afterEach(async () => {
  await app?.close();
  app = undefined;
  rmSync(folder, { recursive: true });
});

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

function pair(cert: string, key: string): TlsSettings {
  const files = { cert_file: file("cert.pem", cert), key_file: file("key.pem", key) };
  return { ...files, min_version: "1.2", require_client_cert: false };
}

const FIRST = [certificates.first, certificates.firstKey] as const;
const SECOND = [certificates.second, certificates.secondKey] as const;

interface Serving {
  readonly port: number;
  readonly url: string;
  readonly tls: Tls;
  readonly logged: unknown[];
  /** As ten seconds pass. */
  look(): void;
}

async function serving(settings: TlsSettings): Promise<Serving> {
  const logged: unknown[] = [];
  const log = { error: (fields: unknown, message: string) => void logged.push([message, fields]) };
  const looks: (() => void)[] = [];
  const timer = (_: number, run: () => void) => {
    looks.push(run);
    return () => {};
  };
  const tls = await Tls.open(settings, { log, timer });
  if (!tls) return expect.unreachable("a certificate is configured");
  const read = () => answer(204, undefined);
  app = createApp({ routes, handlers: { things: { read } }, log, ids: () => "r", tls });
  const { port, url } = await listen(app, { host: "127.0.0.1", port: 0 });
  const look = () => {
    for (const run of looks) run();
  };
  return { port, url, tls, logged, look };
}

interface Got {
  readonly status: number | undefined;
  readonly headers: IncomingMessage["headers"];
  /** The name in the server's certificate. */
  readonly name: string | undefined;
}

async function get(port: number, options: RequestOptions = {}): Promise<Got> {
  const { authority: ca } = certificates;
  const asked = request({ host: "127.0.0.1", port, path: "/read", agent: false, ca, ...options });
  asked.end();
  const [response] = (await once(asked, "response")) as [IncomingMessage];
  response.resume();
  const peer: DetailedPeerCertificate = (response.socket as TLSSocket).getPeerCertificate(true);
  const { statusCode: status, headers } = response;
  return { status, headers, name: [peer.subject.CN].flat()[0] };
}

test("NET-6 with a certificate the server speaks https, and says so", async () => {
  const { port, url } = await serving(pair(...FIRST));
  expect(url).toBe(`https://127.0.0.1:${port}`);
  const { status, headers, name } = await get(port);
  expect([status, name]).toEqual([204, "engine test first"]);
  expect(headers["strict-transport-security"]).toBe("max-age=31536000");
  const missing = await get(port, { path: "/no/such/route" });
  expect(missing.headers["strict-transport-security"]).toBe("max-age=31536000");
  // Whoever does not know the authority does not talk to it.
  await expect(get(port, { ca: certificates.second })).rejects.toThrow(/certificate/);
});

test("NET-3 without TLS no answer asks for https", async () => {
  const read = () => answer(204, undefined);
  app = createApp({ routes, handlers: { things: { read } }, log: { error() {} }, ids: () => "r" });
  const { headers } = await app.inject({ url: "/read" });
  expect(headers).not.toHaveProperty("strict-transport-security");
});

test("NET-6 plain http to a server of https gets no answer, and harms nothing", async () => {
  const { port, logged } = await serving(pair(...FIRST));
  const socket = connect(port, "127.0.0.1");
  let text = "";
  socket.on("data", (chunk: Buffer) => {
    text += chunk.toString("latin1");
  });
  socket.on("error", () => {});
  socket.write("GET /read HTTP/1.1\r\nhost: localhost\r\n\r\n");
  await once(socket, "close");
  expect(text).not.toContain("HTTP/1.1");
  expect((await get(port)).status).toBe(204);
  expect(logged).toEqual([]);
});

test("NET-1 NET-3 an unreadable request over TLS is refused with all headers", async () => {
  const { port } = await serving(pair(...FIRST));
  const { authority: ca } = certificates;
  const socket = connectTls({ port, host: "127.0.0.1", ca });
  socket.write("FOO BAR\r\n\r\n");
  const [answered] = (await once(socket, "data")) as [Buffer];
  expect(answered.toString()).toMatch(/^HTTP\/1.1 400 [\s\S]*strict-transport-security/);
  socket.destroy();
});

test("NET-6 the oldest version is as configured, never below 1.2", async () => {
  const settings = pair(...FIRST);
  const { port } = await serving(settings);
  await expect(get(port, { maxVersion: "TLSv1.1", minVersion: "TLSv1.1" })).rejects.toThrow();
  expect((await get(port, { maxVersion: "TLSv1.2" })).status).toBe(204);
  await app?.close();
  const strict = await serving({ ...settings, min_version: "1.3" });
  await expect(get(strict.port, { maxVersion: "TLSv1.2" })).rejects.toThrow();
  expect((await get(strict.port)).status).toBe(204);
});

test("NET-6 a new pair is taken once its files have changed; a bad one is logged once and the old one kept", async () => {
  const t = await serving(pair(...FIRST));
  const looked = async () => {
    t.look();
    t.look();
    await expect.poll(() => get(t.port)).toMatchObject({ status: 204 });
  };
  await looked();
  expect(t.logged).toEqual([]);
  // The key follows its certificate a moment later.
  file("cert.pem", certificates.second);
  await looked();
  await expect.poll(() => t.logged.length).toBe(1);
  expect(t.logged[0]).toEqual([
    "the new certificate is of no use; the old one is kept",
    { problems: [expect.stringContaining("is not the key of the certificate")] },
  ]);
  expect((await get(t.port)).name).toBe("engine test first");
  file("key.pem", certificates.secondKey);
  t.look();
  await expect.poll(async () => (await get(t.port)).name).toBe("engine test second");
  rmSync(join(folder, "cert.pem"));
  await looked();
  await expect.poll(() => t.logged.length).toBe(2);
  expect((await get(t.port)).name).toBe("engine test second");
  expect(JSON.stringify(t.logged)).not.toContain("PRIVATE");
});

test("NET-6 a hangup reads the files at once and tells again of what is wrong with them", async () => {
  const t = await serving(pair(...FIRST));
  pair(...SECOND);
  await t.tls.reload();
  expect((await get(t.port)).name).toBe("engine test second");
  file("key.pem", "garbage");
  await t.tls.reload();
  await t.tls.reload();
  expect(t.logged).toHaveLength(2);
  expect((await get(t.port)).name).toBe("engine test second");
});

test("NET-6 a client certificate is asked for where it is configured, and needed where that says so", async () => {
  const settings = { ...pair(...FIRST), client_ca_file: file("ca.pem", certificates.authority) };
  const own = { cert: certificates.client, key: certificates.clientKey };
  const asking = await serving(settings);
  expect((await get(asking.port)).status).toBe(204);
  expect((await get(asking.port, own)).status).toBe(204);
  await app?.close();
  const strict = await serving({ ...settings, require_client_cert: true });
  await expect(get(strict.port)).rejects.toThrow();
  expect((await get(strict.port, own)).status).toBe(204);
  // Still so with a new pair.
  pair(...SECOND);
  await strict.tls.reload();
  await expect(get(strict.port)).rejects.toThrow();
  expect((await get(strict.port, own)).name).toBe("engine test second");
});

test("AUTH-3 NET-6 what is wrong with the files is a line each, before anything is served", async () => {
  const good = pair(...FIRST);
  const none = { min_version: "1.2", require_client_cert: false } as const;
  expect(await tlsProblems(good)).toEqual([]);
  expect(await tlsProblems(none)).toEqual([]);
  expect(await Tls.open(none, { log: { error() {} } })).toBeUndefined();
  const { cert_file, key_file } = good;
  const nowhere = join(folder, "nowhere.pem");
  const bad = file("bad.pem", "garbage");
  const other = file("other.pem", certificates.secondKey);
  for (const [settings, ...lines] of [
    [{ cert_file }, "key_file: needed"],
    [{ key_file }, "cert_file: needed"],
    [{ client_ca_file: bad }, "cert_file: needed", "key_file: needed"],
    [{ ...good, require_client_cert: true }, "client_ca_file: needed where client certificates"],
    [
      { cert_file: nowhere, key_file: nowhere },
      `cert_file: ${nowhere} cannot be read (ENOENT)`,
      `key_file: ${nowhere} cannot be read (ENOENT)`,
    ],
    [{ cert_file: bad, key_file }, "holds no certificate in PEM"],
    [{ cert_file, key_file: bad }, "holds no private key in PEM"],
    [{ cert_file: bad, key_file: bad }, "holds no certificate", "holds no private key"],
    [{ cert_file, key_file: other }, "is not the key of the certificate"],
    [{ ...good, client_ca_file: bad }, "client_ca_file"],
  ] as const) {
    const problems = await tlsProblems({ ...none, ...settings });
    expect(problems).toEqual(lines.map((line) => expect.stringContaining(line)));
    for (const line of problems) expect(line).toMatch(/^engine\.server\.tls\.\w+: /);
    const opened = Tls.open({ ...none, ...settings }, { log: { error() {} } });
    await expect(opened).rejects.toMatchObject({
      code: "invalid_input",
      message: problems.join("\n"),
    });
  }
});
