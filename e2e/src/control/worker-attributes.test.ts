import type { WorkerRecord } from "@engine/contract";
import { expect, test } from "vitest";
import { startEngine } from "../harness/engine.ts";
import { until } from "../harness/until.ts";

test.each(["sqlite", "postgres"] as const)(
  "WMD-1 WMD-3 WMD-7 what operators say of a worker outlives kill -9 of it and of its server, on %s",
  async (store) => {
    await using engine = await startEngine({ store, workers: [] });
    const record = async () => (await engine.http.get<WorkerRecord>("/workers/one")).body;
    const online = (pid: number | null) =>
      until("the worker is back", async () => {
        const { status, pid: now } = await record().catch(() => ({ status: "", pid }));
        return status === "online" && now !== pid;
      });
    const first = engine.startWorker("one");
    await online(null);
    const set = await engine.cli("worker", "metadata", "set", "one", "tier=gold", "cost=0.25");
    expect(set).toMatchObject({ code: 0, stderr: "" });
    const granted = await engine.cli("worker", "service", "grant", "one", "inference");
    expect(granted).toMatchObject({ code: 0, stderr: "" });
    const said = {
      metadata: { cost: 0.25, tier: "gold" },
      services: { offered: [], granted: ["inference"] },
      // Nobody offers it: a grant alone is no label.
      labels: {},
    };
    const { pid } = await record();
    expect(await record()).toMatchObject(said);

    await first.kill();
    engine.startWorker("one");
    await online(pid);
    expect(await record()).toMatchObject(said);

    const { pid: second } = await record();
    await engine.server.kill();
    engine.startServerAgain();
    // The same process goes on; the answer comes from the store.
    await until("the worker is back", async () => {
      const now = await record().catch(() => undefined);
      return now?.status === "online" && now.pid === second;
    });
    expect(await record()).toMatchObject(said);
    expect((await engine.cli("worker", "metadata", "unset", "one", "cost")).code).toBe(0);
    expect((await engine.cli("worker", "service", "revoke", "one", "inference")).code).toBe(0);
    expect(await record()).toMatchObject({
      ...{ metadata: { tier: "gold" }, services: { offered: [], granted: [] } },
    });
  },
);
