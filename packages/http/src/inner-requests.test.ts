import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import * as z from "zod";
import { type App, createApp } from "./create-app.ts";
import type { RouteTable } from "./handlers.ts";
import { innerFetch, THIS_SERVER } from "./inner-requests.ts";
import { listen } from "./listen.ts";
import { answer } from "./reply.ts";
import { certificates } from "./testing/certificates.ts";
import { Tls } from "./tls.ts";

const row = { permission: { kind: "open" }, summary: "-" } as const;
const routes = {
  things: {
    echo: {
      ...row,
      method: "POST",
      path: "/echo",
      effect: "write",
      body: z.unknown(),
      answers: { 200: z.unknown() },
    },
    follow: {
      ...row,
      method: "GET",
      path: "/follow",
      effect: "read",
      frames: { tick: z.unknown() },
      answers: { 200: z.unknown() },
    },
  },
} as const satisfies RouteTable;

/** A table whose stream has one frame and then waits for its reader to leave. */
async function app(tls?: Tls): Promise<{ app: App; left: ReturnType<typeof vi.fn> }> {
  const left = vi.fn();
  const made = createApp({
    routes,
    handlers: {
      things: {
        echo: async ({ body }, { address, headers }) =>
          answer(200, { body, address, told: headers["x-engine-told"] }),
        follow: async (_, { signal }) => ({
          frames: (async function* () {
            yield { event: "tick", data: 1 };
            await new Promise((resolve) => signal.addEventListener("abort", resolve));
            left();
          })(),
        }),
      },
    },
    log: { error: () => {} },
    ids: () => "r",
    ...(tls && { tls }),
  });
  await listen(made, { host: "127.0.0.1", port: 0 });
  onTestFinished(async () => made.close());
  return { app: made, left };
}

const POST = {
  method: "POST",
  headers: { "content-type": "application/json", "x-engine-told": "yes" },
} as const;

test("a request of the process to itself goes the way of all others, from the address it is made for", async () => {
  const { app: server } = await app();
  const send = innerFetch(server, "192.0.2.7");
  const { status, text, headers } = await send(`${THIS_SERVER}/echo`, {
    ...POST,
    body: '{"a":"ü"}',
  });
  expect([status, headers.get("X-Request-Id")]).toEqual([200, "r"]);
  expect(JSON.parse(await text())).toEqual({
    ...{ body: { a: "ü" }, address: "192.0.2.7", told: "yes" },
  });
  expect((await send(`${THIS_SERVER}/nothing`, { method: "GET", headers: {} })).status).toBe(404);
  const broken = await send(`${THIS_SERVER}/echo`, { ...POST, body: "{" });
  expect([broken.status, JSON.parse(await broken.text()).error.code]).toEqual([400, "bad_request"]);
});

test("whoever stops reading leaves as any client does", async () => {
  const { app: server, left } = await app();
  const leave = new AbortController();
  const { signal } = leave;
  const send = innerFetch(server, undefined);
  const { body } = await send(`${THIS_SERVER}/follow`, { method: "GET", headers: {}, signal });
  const reader = body.getReader();
  const { value } = await reader.read();
  expect(new TextDecoder().decode(value)).toContain("event: tick");
  expect(left).not.toHaveBeenCalled();
  leave.abort();
  await expect(reader.read()).rejects.toThrow();
  await vi.waitFor(() => expect(left).toHaveBeenCalled());
});

test("the end of the server ends what the process reads of itself", async () => {
  const { app: server } = await app();
  const send = innerFetch(server, undefined);
  const { text } = await send(`${THIS_SERVER}/follow`, { method: "GET", headers: {} });
  const reading = text();
  await server.close();
  expect(await reading).toBe("event: tick\ndata: 1\n\n");
});

test("NET-6 a server of https takes them as it takes those that it has deciphered", async () => {
  const folder = mkdtempSync(join(tmpdir(), "engine-inner-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const [cert_file, key_file] = [join(folder, "cert.pem"), join(folder, "key.pem")];
  writeFileSync(cert_file, certificates.first);
  writeFileSync(key_file, certificates.firstKey);
  const settings = { cert_file, key_file, min_version: "1.2", require_client_cert: false } as const;
  const log = { error: () => {}, info: () => {}, warn: () => {} };
  const { app: server } = await app(await Tls.open(settings, { log }));
  const send = innerFetch(server, "192.0.2.7");
  const { status, text } = await send(`${THIS_SERVER}/echo`, { ...POST, body: "1" });
  expect([status, JSON.parse(await text())]).toMatchObject([200, { body: 1 }]);
});
