import { setTimeout as sleep } from "node:timers/promises";
import type { Schedule, ScheduleRun } from "@engine/contract";
import { expect, test } from "vitest";
import { startCluster } from "../harness/cluster.ts";

test("EXE-75 I23 two servers and one schedule make one run for each instant, also when either of them is killed", async () => {
  await using cluster = await startCluster({ workers: ["one"] });
  await cluster.register("hello");
  const [first, second] = cluster.servers;
  const created = await second?.http.post<Schedule>("/schedules", {
    name: "each-second",
    workflow: "hello_world",
    spec: { type: "interval", every_seconds: 1 },
    overlap: "allow",
    catch_up: "all",
    input: "you",
  });
  expect(created).toMatchObject({ status: 201 });
  await sleep(2_000);
  // One of them leads; the lead goes over, and comes back.
  for (const server of [first, second]) {
    await server?.process.kill();
    await sleep(2_500);
    await server?.startAgain();
    await sleep(1_000);
  }
  // Whoever did not lead had not heard of it through the other alone.
  const paused = await first?.http.post<Schedule>("/schedules/each-second/pause");
  expect(paused).toMatchObject({ status: 200, body: { status: "paused", skip_count: 0 } });

  const { body } = await cluster.http.get<{ items: ScheduleRun[] }>(
    "/schedules/each-second/history?limit=200",
  );
  const instants = body.items.map(({ scheduled_for }) => Date.parse(scheduled_for ?? "")).reverse();
  const firstInstant = instants[0] ?? Number.NaN;
  expect(instants).toEqual(instants.map((_, i) => firstInstant + i * 1_000));
  expect(instants.length).toBeGreaterThan(7);
  expect(paused?.body.run_count).toBe(instants.length);
  for (const { execution_id } of body.items) {
    expect(await cluster.untilEnded(execution_id)).toMatchObject({ output: "Hello, you!" });
  }
});
