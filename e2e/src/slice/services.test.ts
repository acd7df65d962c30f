import { fileURLToPath } from "node:url";
import type { ServiceRun } from "@engine/contract";
import { expect, test } from "vitest";
import { type Engine, startEngine } from "../harness/engine.ts";
import { startService } from "../harness/service-process.ts";

const EXAMPLE = fileURLToPath(new URL("../../../examples/src/billing.ts", import.meta.url));
const BILLING = "/services/billing";

async function typed(engine: Engine, ...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await engine.cli(...args);
  if (code !== 0) throw new Error(stderr);
  return stdout;
}

const STORES = ["sqlite", "postgres"] as const;

test.each(STORES)(
  "SVC-30 SVC-45 SVC-47 on %s a namespace becomes endpoints: outputs as they are, a pause that is resumed, through a kill",
  async (store) => {
    await using engine = await startEngine({ store });
    await typed(engine, "service", "create", "billing", "--namespace", "billing");
    expect((await engine.http.post(`${BILLING}/invoice`, {})).status).toBe(404);

    await typed(engine, "workflow", "register", EXAMPLE);
    const billed = await engine.http.post(`${BILLING}/invoice`, { id: "i1", cents: 50 });
    expect(billed).toMatchObject({
      ...{ status: 200, body: { id: "i1", receipt: "receipt-i1", total: 62 } },
    });
    expect((await engine.http.post(`${BILLING}/invoice`, { id: "i1" })).status).toBe(422);

    const asked = await engine.http.post<ServiceRun & { state: "PAUSED" }>(`${BILLING}/payout`, {
      ...{ to: "ada", cents: 900 },
    });
    expect([asked.status, asked.body.state]).toEqual([202, "PAUSED"]);
    await engine.server.kill();
    engine.startServerAgain();
    await engine.server.printed(/http:\/\/[\w.]+:\d+/);
    const paid = await engine.http.post(asked.body.resume_url, { approved: true });
    expect([paid.status, paid.body]).toEqual([200, "transferred 900 cents"]);

    expect(await typed(engine, "service", "show", "billing")).toContain(
      "/payout → billing/payout (v1)",
    );
    await typed(engine, "service", "exclude", "billing", "billing/refund");
    expect((await engine.http.post(`${BILLING}/refund`, { id: "i1", cents: 1 })).status).toBe(404);
    await typed(engine, "service", "delete", "billing", "--yes");
    expect((await engine.http.post(`${BILLING}/invoice`, {})).status).toBe(404);
  },
);

/** Asks an address whose paths are not those of the server. */
function plainly(base: string) {
  const ask = async <Body = unknown>(path: string, body?: unknown) => {
    const headers = { "content-type": "application/json" };
    const sent = body === undefined ? {} : { method: "POST", headers, body: JSON.stringify(body) };
    const response = await fetch(base + path, sent);
    const { status } = response;
    return { status, headers: response.headers, body: (await response.json()) as Body };
  };
  return { get: (path: string) => ask(path), post: ask };
}

test.each(STORES)(
  "GW-1 GW-3 GW-4 GW-10 SVC-45 on %s a service at its own address answers as the server does, byte for byte",
  async (store) => {
    await using engine = await startEngine({ store });
    await typed(engine, "workflow", "register", EXAMPLE);
    await typed(engine, "service", "create", "billing", "--namespace", "billing");
    await using gateway = await startService(engine, "billing");
    const root = plainly(gateway.url);
    const order = { id: "i1", cents: 50 };
    const billed = await root.post("/invoice", order);
    expect([billed.status, billed.body]).toEqual([
      200,
      { id: "i1", receipt: "receipt-i1", total: 62 },
    ]);

    const asked = await root.post<ServiceRun & { state: "PAUSED" }>("/payout", {
      to: "a",
      cents: 9,
    });
    expect([asked.status, asked.body.state]).toEqual([202, "PAUSED"]);
    const status = asked.headers.get("location") ?? "";
    const [here, there] = await Promise.all(
      [gateway.url, engine.url].map(async (url) => (await fetch(url + status)).text()),
    );
    expect(here).toBe(there);
    // What it answers with leads on at its own address, too.
    const paid = await root.post(asked.body.resume_url, { approved: true });
    expect([paid.status, paid.body]).toEqual([200, "transferred 9 cents"]);

    for (const [path, body] of [
      ["/invoice", { id: "i1" }],
      ["/invoice?version=9", order],
      ["/invoice?version=x", order],
      ["/payout/resume/none", 1],
    ] as const) {
      const [one, other] = await Promise.all([
        root.post(path, body),
        engine.http.post(`/services/billing${path}`, body),
      ]);
      expect([path, one.status, one.body]).toEqual([path, other.status, other.body]);
    }
    // A workflow that is registered is there for the next request; one that is not is known not to be.
    const source = `import { workflow } from "@engine/sdk";
export const hi = workflow({ name: "hi", namespace: "billing" }, async () => "hi");
`;
    expect((await root.post("/hi", null)).status).toBe(404);
    const file = await engine.home.write("hi.ts", source);
    await typed(engine, "workflow", "register", file);
    expect(await root.post("/hi", null)).toMatchObject({ status: 200, body: "hi" });

    const { body: document } = await root.get("/openapi.json");
    expect(document).toMatchObject({
      ...{ servers: [{ url: expect.stringMatching(/^http:/) }], info: { title: "billing" } },
      paths: { "/invoice": { post: { operationId: "invoice" } } },
    });

    await engine.server.kill();
    expect((await root.post("/hi", null)).status).toBe(502);
    expect((await root.get("/health")).body).toMatchObject({ status: "degraded" });
    engine.startServerAgain();
    await engine.server.printed(/http:\/\/[\w.]+:\d+/);
    expect((await root.post("/hi", null)).status).toBe(200);
    expect((await root.get("/health")).body).toMatchObject({ status: "healthy" });
  },
);
