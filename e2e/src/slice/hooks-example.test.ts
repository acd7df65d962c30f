import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { DeliveryRecord, ExecutionRecord, ExecutionSummary } from "@engine/contract";
import { expect, test } from "vitest";
import { type Engine, startEngine } from "../harness/engine.ts";
import { until } from "../harness/until.ts";

const EXAMPLE = fileURLToPath(new URL("../../../examples/src/incidents.ts", import.meta.url));
const INCIDENT = "/workflows/examples/open_incident/executions";

async function exampleEngine(store: "sqlite" | "postgres"): Promise<Engine> {
  const engine = await startEngine({ store });
  const { code, stderr } = await engine.cli("workflow", "register", EXAMPLE);
  if (code !== 0) throw new Error(stderr);
  return engine;
}

async function checkout({ http }: Engine, order: object): Promise<ExecutionRecord> {
  const path = "/workflows/examples/checkout/run/sync";
  return (await http.post<ExecutionRecord>(path, order)).body;
}

/** Of a workflow, once there are so many and all have ended. */
async function ended(engine: Engine, path: string, count: number): Promise<ExecutionRecord[]> {
  let found: readonly ExecutionSummary[] = [];
  await until(`${count} of ${path}`, async () => {
    found = (await engine.http.get<{ items: ExecutionSummary[] }>(path)).body.items;
    return found.length >= count;
  });
  return Promise.all(found.map(({ execution_id }) => engine.untilEnded(execution_id)));
}

for (const store of ["sqlite", "postgres"] as const) {
  test(`HOOK-47 HOOK-30 a failed payment opens its incident once, also where the server is killed at once (${store})`, async () => {
    await using engine = await exampleEngine(store);
    const failed = await checkout(engine, { card: "expired", cents: 50 });
    expect(failed.state).toBe("FAILED");
    await engine.server.kill();
    engine.startServerAgain();
    await until("the server answers", () => engine.http.isHealthy());
    const [incident, ...others] = await ended(engine, INCIDENT, 1);
    expect(others).toEqual([]);
    expect(incident).toMatchObject({
      state: "COMPLETED",
      output: {
        incident: expect.stringMatching(new RegExp(`^${failed.execution_id}:\\d+$`)),
        execution: failed.execution_id,
      },
    });
  });
}

test("HOOK-47 a pause tells somebody who is to answer, and disabling the hook ends that", async () => {
  await using engine = await exampleEngine("sqlite");
  const order = { card: "good", cents: 50_000 };
  const paused = await checkout(engine, order);
  const path = "/workflows/examples/ask_somebody/executions";
  const [asked] = await ended(engine, path, 1);
  expect(asked?.output).toContain(`npx engine execution resume ${paused.execution_id}`);
  const { code, stderr } = await engine.cli("hook", "update", "ask", "--disable");
  expect([code, stderr]).toEqual([0, ""]);
  await checkout(engine, order);
  const deliveries = await engine.http.get<{ total: number }>("/hooks/ask/deliveries");
  expect(deliveries.body.total).toBe(1);
});

test("HOOK-33 HOOK-34 a workflow that is started by its own end runs four times, and says why not five", async () => {
  await using engine = await exampleEngine("sqlite");
  await engine.http.post("/workflows/examples/tidy/run/sync", null);
  const runs = await ended(engine, "/workflows/examples/tidy/executions", 4);
  expect(runs.map(({ output }) => output).toSorted()).toEqual([0, 1, 2, "by hand"]);
  const path = "/hooks/tidy-again/deliveries?status=dead";
  let dead: readonly DeliveryRecord[] = [];
  await until("the last delivery is dead", async () => {
    dead = (await engine.http.get<{ items: DeliveryRecord[] }>(path)).body.items;
    return dead.length > 0;
  });
  expect(dead).toMatchObject([{ hop: 3, dead_reason: "hop_limit" }]);
});

test("HOOK-16 HOOK-17 what a local run fires is started by the server that comes to its database, at its start", async () => {
  await using engine = await exampleEngine("sqlite");
  await engine.server.kill();
  const program = fileURLToPath(
    new URL("../../../examples/src/incidents.main.ts", import.meta.url),
  );
  await promisify(execFile)(process.execPath, ["--conditions=@engine/source", program], {
    env: { ...process.env, ENGINE_HOME: engine.home.file(".engine") },
  });
  engine.startServerAgain();
  await until("the server answers", () => engine.http.isHealthy());
  // One was run by the program itself.
  const incidents = await ended(engine, INCIDENT, 2);
  const failed = new Set(
    incidents.map(({ output }) => (output as { execution: string }).execution),
  );
  expect(failed.size).toBe(1);
  const hooks = await engine.http.get<{ items: { name: string }[] }>("/hooks");
  const hook = hooks.body.items.find(({ name }) => name.startsWith("wf-examples-checkout-"));
  const deliveries = await engine.http.get<{ items: DeliveryRecord[] }>(
    `/hooks/${hook?.name}/deliveries`,
  );
  expect(deliveries.body.items).toMatchObject([
    { status: "delivered", event_key: expect.stringContaining(`${[...failed][0]}:`) },
  ]);
  // The program knew what to mask, and said the rest.
  const logs = await Promise.all(
    incidents.map(({ execution_id }) => engine.http.log(execution_id)),
  );
  for (const log of logs) {
    const started = log.find(({ type }) => type === "WORKFLOW_STARTED");
    expect(started?.value).toMatchObject({
      event: { value: expect.objectContaining({ message: "the card has expired" }) },
    });
  }
});

test("HOOK-22 the page of hooks says before its first section that whoever runs a workflow chooses what comes in an envelope", () => {
  const page = readFileSync(new URL("../../../docs/hooks.md", import.meta.url), "utf8");
  const [beginning = ""] = page.split("\n## ");
  expect(beginning).toContain("examples/src/incidents.ts");
  expect(beginning).toMatch(/^> `event\.value` is input of whoever may run a workflow/m);
});
