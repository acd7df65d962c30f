import { fileURLToPath } from "node:url";
import type { ServiceRun } from "@engine/contract";
import { expect, test } from "vitest";
import { type Engine, startEngine } from "../harness/engine.ts";

const EXAMPLE = fileURLToPath(new URL("../../../examples/src/billing.ts", import.meta.url));
const BILLING = "/services/billing";

async function typed(engine: Engine, ...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await engine.cli(...args);
  if (code !== 0) throw new Error(stderr);
  return stdout;
}

test.each(["sqlite", "postgres"] as const)(
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
