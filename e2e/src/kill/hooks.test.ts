import { hash } from "node:crypto";
import { type DeliveryRecord, hookExecutionId } from "@engine/contract";
import { expect, test } from "vitest";
import { startCluster } from "../harness/cluster.ts";
import { type Engine, startEngine } from "../harness/engine.ts";
import type { EngineAccess } from "../harness/engine-access.ts";
import { until } from "../harness/until.ts";
import { listExecutions, untilAllEnded } from "./all-executions.ts";

const EVENTS = Number(process.env["E2E_EVENTS"] ?? 600);
const KILLS = Number(process.env["E2E_KILLS"] ?? 4);
const AT_A_TIME = 24;
/** For one kill, with what the servers do meanwhile. */
const LIMIT_MS = 60_000 + EVENTS * 20;
const HOOK = { name: "page", selectors: ["execution:default:fires:completed"], max_attempts: 100 };

for (const store of ["sqlite", "postgres"] as const) {
  test(`HOOK-57 I18 I19 kill -9 of the server while it starts what hooks wait for: a delivery and an execution for each event (${store})`, {
    timeout: 120_000 + LIMIT_MS * 2,
  }, async () => {
    await using engine = await startEngine({ store, workers: ["a", "b"] });
    await judge(engine, () => killServer(engine));
  });
}

test("HOOK-57 I18 I19 kill -9 of one of two servers by turns: a delivery and an execution for each event", {
  timeout: 120_000 + LIMIT_MS * 2,
}, async () => {
  await using cluster = await startCluster({ workers: ["a", "b"] });
  let turn = 0;
  await judge(cluster, async () => {
    const server = cluster.servers[turn++ % cluster.servers.length];
    await server?.process.kill();
    await server?.startAgain();
  });
});

async function killServer(engine: Engine): Promise<void> {
  await engine.server.kill();
  engine.startServerAgain();
  await until("the server answers again", () => engine.http.isHealthy());
}

async function judge(engine: EngineAccess, kill: () => Promise<void>): Promise<void> {
  await engine.register("hooked");
  const made = await engine.http.post("/hooks", {
    ...{ ...HOOK, workflow: "default/told", principal: "nobody" },
  });
  expect(made.status).toBe(201);

  const acknowledged: string[] = [];
  const load = startMany(engine, acknowledged);
  for (let n = 1; n <= KILLS; n++) {
    const share = Math.round((EVENTS * n) / (KILLS + 1));
    const isFar = async () => (await countOf(engine, "told")) >= share;
    await until(`${share} were started by the hook`, isFar, LIMIT_MS);
    await kill();
  }
  await load;
  await untilAllEnded(engine, LIMIT_MS);
  const nothingWaits = async () => (await page(engine, 0, "pending")).total === 0;
  await until("nothing waits to be delivered", nothingWaits, LIMIT_MS);
  await untilAllEnded(engine, LIMIT_MS);

  const all = await listExecutions(engine);
  const of = (workflow: string) => all.filter((one) => one.workflow === workflow);
  const fired = of("fires").map(({ execution_id }) => execution_id);
  expect(fired).toEqual(expect.arrayContaining(acknowledged));
  expect(new Set(all.map(({ state }) => state))).toEqual(new Set(["COMPLETED"]));
  const deliveries = await allDeliveries(engine);
  expect(new Set(deliveries.map(({ status }) => status))).toEqual(new Set(["delivered"]));
  const sources = deliveries.map(({ event_key }) => event_key.split(":")[0] as string);
  expect(sources.toSorted()).toEqual(fired.toSorted());
  const started = of("told").map(({ execution_id }) => execution_id);
  expect(deliveries.map(({ execution_id }) => execution_id).toSorted()).toEqual(started.toSorted());
  for (const { id, execution_id } of deliveries) {
    expect(execution_id).toBe(hookExecutionId(id, (text) => hash("sha256", text)));
  }
}

/** As many as there are to be; one whose answer is lost is started again, and may be there twice. */
async function startMany(engine: EngineAccess, acknowledged: string[]): Promise<void> {
  let next = 0;
  const starter = async () => {
    while (next < EVENTS) {
      const n = next++;
      const isStarted = async () => {
        const id = await engine.start("fires", n).catch(() => undefined);
        if (id !== undefined) acknowledged.push(id);
        return id !== undefined;
      };
      await until(`number ${n} is acknowledged`, isStarted, LIMIT_MS);
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, starter));
}

async function countOf({ http }: EngineAccess, workflow: string): Promise<number> {
  const path = `/workflows/default/${workflow}/executions?limit=1`;
  const found = await http.get<{ total: number }>(path).catch(() => undefined);
  return found?.body.total ?? 0;
}

interface Deliveries {
  readonly items: readonly DeliveryRecord[];
  readonly total: number;
}

async function page({ http }: EngineAccess, offset: number, status?: string): Promise<Deliveries> {
  const only = status ? `&status=${status}` : "";
  const path = `/hooks/${HOOK.name}/deliveries?limit=200&offset=${offset}${only}`;
  return (await http.get<Deliveries>(path)).body;
}

async function allDeliveries(engine: EngineAccess): Promise<readonly DeliveryRecord[]> {
  const found: DeliveryRecord[] = [];
  for (;;) {
    const { items, total } = await page(engine, found.length);
    found.push(...items);
    if (found.length >= total) return found;
  }
}
