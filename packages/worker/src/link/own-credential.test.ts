import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EngineError, WorkerRegistration } from "@engine/contract";
import { expect, onTestFinished, test } from "vitest";
import { httpLink } from "./http-link.ts";
import { OwnCredential, type OwnCredentialOptions } from "./own-credential.ts";

const EXPIRES = "2100-01-01T00:00:00.000Z";
const registration = WorkerRegistration.parse({
  name: "w1",
  instance_id: "0190f5b0-7e5c-7aaa-8bbb-123456789abc",
  protocol: 1,
  engine_version: "0.1.0",
  host: "h",
  pid: 1,
  runtime: { os: "linux", arch: "x64", node: "24" },
});
const registered = {
  worker: { name: "w1", labels: {}, slots: 1 },
  session: "session",
  dispatch: "event",
  heartbeat_seconds: 10,
  executions: {
    sibling_grace: 1,
    inline_wait: 1,
    rollback_timeout: 1,
    max_events: 1,
    inline_value_bytes: 1,
    max_value_bytes: 1,
  },
};

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "engine-worker-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

function credentialIn(home: string, config: OwnCredentialOptions["config"] = {}) {
  return new OwnCredential({ name: "w1", home, config, log: { warn: () => undefined } });
}

/** A server that takes some credentials for registering and answers with the next one. */
async function server(counts: readonly string[]) {
  const shown: (string | undefined)[] = [];
  const of = ({ headers }: IncomingMessage) => headers.authorization?.replace("Bearer ", "");
  let made = 0;
  const listening = createServer((request, response) => {
    const token = of(request);
    shown.push(token);
    request.resume().on("end", () => {
      response.setHeader("content-type", "application/json");
      if (token !== undefined && counts.includes(token)) {
        const credential = { token: `credential-${++made}`, expires_at: EXPIRES };
        const isRenewal = request.url?.endsWith("/credential");
        response.end(JSON.stringify(isRenewal ? credential : { ...registered, credential }));
        return;
      }
      response.statusCode = 401;
      response.end(JSON.stringify(new EngineError("unauthenticated", "no").toBody()));
    });
  });
  await new Promise<void>((resolve) => listening.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void listening.close());
  const { port } = listening.address() as AddressInfo;
  return { baseUrl: `http://127.0.0.1:${port}`, shown };
}

test("AUTH-52 stored credential, join token, bootstrap token are tried in turn, moving on at 401", async () => {
  const home = folder();
  credentialIn(home).keep({ token: "stored", expires_at: EXPIRES });
  const file = join(home, "join-token");
  writeFileSync(file, "join\n");
  const credential = credentialIn(home, { join_token_file: file, bootstrap_token: "bootstrap" });
  const { baseUrl, shown } = await server(["bootstrap", "credential-1"]);
  const link = httpLink({ baseUrl, credential });
  await link.register(registration);
  expect(shown).toEqual(["stored", "join", "bootstrap"]);
  await link.renewCredential?.("w1");
  expect(shown.at(-1)).toBe("credential-1");
  expect(credential.token).toBe("credential-2");
});

test("AUTH-52 the credential is kept in a file that only its owner reads", async () => {
  const home = folder();
  const { baseUrl } = await server(["join"]);
  const link = httpLink({ baseUrl, credential: credentialIn(home, { join_token: "join" }) });
  await link.register(registration);
  const path = join(home, "workers", "w1", "credential");
  expect(readFileSync(path, "utf8")).toBe("credential-1\n");
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(credentialIn(home).candidates()).toEqual(["credential-1"]);
});

test("AUTH-52 with none left registration is refused plainly, without any token in the text", async () => {
  const { baseUrl, shown } = await server([]);
  const credential = credentialIn(folder(), { join_token: "join-secret" });
  const refused: unknown = await httpLink({ baseUrl, credential })
    .register(registration)
    .catch((error: unknown) => error);
  expect(refused).toMatchObject({
    code: "unauthenticated",
    message: expect.stringContaining("ENGINE_WORKERS__JOIN_TOKEN"),
  });
  expect(String(refused)).not.toContain("join-secret");
  await expect(httpLink({ baseUrl }).register(registration)).rejects.toMatchObject({
    message: expect.stringContaining("this worker has none"),
  });
  expect(shown).toEqual(["join-secret", undefined]);
});

test("NET-6 a credential that goes over plain http to another machine is warned of once, and never told", async () => {
  const { baseUrl, shown } = await server(["join", "credential-3", "credential-4"]);
  const warnings: string[] = [];
  const linkTo = (host: string, join_token?: string) =>
    httpLink({
      baseUrl: baseUrl.replace("127.0.0.1", host),
      credential: credentialIn(folder(), join_token === undefined ? {} : { join_token }),
      warn: (message) => void warnings.push(message),
    });
  for (const host of ["127.0.0.1", "localhost"]) await linkTo(host, "join").register(registration);
  expect(warnings).toEqual([]);
  // This machine by an address that may be anybody's.
  const link = linkTo("0.0.0.0", "join");
  await link.register(registration);
  for (let n = 0; n < 2; n++) await link.renewCredential?.("w1");
  expect(shown).toHaveLength(5);
  expect(warnings).toEqual([
    "credentials go to 0.0.0.0 over plain http, where others can read them: use https",
  ]);
  // Without any there is nothing to be read.
  await expect(linkTo("0.0.0.0").register(registration)).rejects.toThrow();
  expect(warnings).toHaveLength(1);
});
