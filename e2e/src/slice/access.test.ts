import { readFile, stat } from "node:fs/promises";
import { expect, test } from "vitest";
import { CliProcess } from "../harness/cli-process.ts";
import { type Engine, startEngine } from "../harness/engine.ts";
import { createHome } from "../harness/home.ts";

/** Servers that share a database need a key (SEC-1). */
const KEY = Buffer.alloc(32, 7).toString("base64");
const ON = {
  ENGINE_SECURITY__AUTH__ENABLED: "true",
  ENGINE_SECURITY__ENCRYPTION__KEY: KEY,
};

interface Asked {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: an answer of any route
  readonly body: any;
}

async function ask(url: string, path: string, token?: string, body?: unknown): Promise<Asked> {
  const response = await fetch(url + path, {
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { "content-type": "application/json" }),
    },
    ...(body !== undefined && { method: "POST", body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text ? JSON.parse(text) : undefined };
}

async function adminKey({ home }: Engine): Promise<string> {
  const path = home.file(".engine/admin-key");
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  return (await readFile(path, "utf8")).trim();
}

test.each(["sqlite", "postgres"] as const)(
  "AUTH-4 AUTH-9 AUTH-10 on %s one switch makes an admin, who makes a viewer, who reads and cannot run",
  async (store) => {
    await using engine = await startEngine({ store, workers: [], env: ON });
    const { url } = engine;
    const admin = await adminKey(engine);
    const printed = engine.server.output;
    expect(printed).not.toContain(admin);
    expect(printed).not.toContain("authentication is off");

    const bot = { subject: "bot", type: "service_account", roles: ["viewer"] };
    expect((await ask(url, "/admin/principals", admin, bot)).status).toBe(201);
    const keys = "/admin/principals/bot/keys";
    const minted = await ask(url, keys, admin, { name: "reads" });
    expect(minted.status).toBe(201);
    const viewer: string = minted.body.key;

    expect((await ask(url, "/executions", viewer)).status).toBe(200);
    const refused = await ask(url, "/workflows/default/hello/run/async", viewer, "x");
    expect(refused).toMatchObject({
      status: 403,
      body: {
        error: {
          code: "permission_denied",
          details: { missing_permissions: ["workflow:default:hello:run"] },
        },
      },
    });
    expect(await ask(url, "/executions")).toMatchObject({
      status: 401,
      body: { error: { code: "unauthenticated", details: { reason: "missing" } } },
    });
    expect((await ask(url, "/health", "nonsense")).status).toBe(200);

    // The key and the admin outlive the process.
    await engine.server.kill();
    engine.startServerAgain();
    await engine.server.printed(/http:\/\/[\w.]+:\d+/);
    expect(await adminKey(engine)).toBe(admin);
    expect((await ask(url, "/auth/whoami", viewer)).body).toMatchObject({
      subject: "bot",
      roles: ["viewer"],
    });
  },
);

test("AUTH-2 without the switch everything is open, and one warning says so with the address", async () => {
  await using engine = await startEngine({ workers: [] });
  const { url, server } = engine;
  expect((await ask(url, "/executions", "nonsense")).status).toBe(200);
  expect(server.output.match(/authentication is off: whoever reaches [\d.]+:\d+/g)).toHaveLength(1);
});

test("AUTH-3 a contradiction ends the start with a line for each problem, and no port is bound", async () => {
  await using home = await createHome();
  const env = {
    ENGINE_HOME: home.file(".engine"),
    ENGINE_SECURITY__AUTH__OIDC__ENABLED: "true",
    ENGINE_SECURITY__AUTH__OIDC__ISSUER: "http://id.example",
  };
  const args = ["start", "server", "--port", "0"];
  const { code, stderr } = await new CliProcess(args, { cwd: home.path, env }).result();
  expect(code).toBe(1);
  expect(stderr).toMatch(/oidc\.audience: needed/);
  expect(stderr).toMatch(/oidc\.issuer: expected an https URL/);
  expect(stderr).not.toMatch(/\n\s+at /);
});
