import type { ExecutionRecord } from "@engine/contract";
import { expect, test } from "vitest";
import { startCluster } from "../harness/cluster.ts";
import { until } from "../harness/until.ts";

test("I10 I17 LIV-3 while one of two servers hangs, whichever leads, the other wakes what is due", async () => {
  await using cluster = await startCluster({ workers: [] });
  await cluster.register("nap");
  const [first, second] = cluster.servers;
  if (!first || !second) throw new Error("two servers were to be started");
  for (const [hung, live] of [
    [first, second],
    [second, first],
  ] as const) {
    await using worker = cluster.startWorker("one", { ENGINE_SERVER_URL: live.http.url });
    await worker.printed(/connected/);
    hung.process.signal("SIGSTOP");
    const { body } = await live.http.post<ExecutionRecord>("/workflows/nap/run/async", 1_500);
    const hasEnded = async () =>
      (await live.http.execution(body.execution_id)).state === "COMPLETED";
    await until("it was woken", hasEnded, 15_000);
    hung.process.signal("SIGCONT");
    // Once it runs again it knows that it does not lead: nothing is woken twice.
    expect(await hung.http.execution(body.execution_id)).toMatchObject({ state: "COMPLETED" });
    const log = await hung.http.log(body.execution_id);
    expect(log.filter(({ type }) => type === "TASK_COMPLETED")).toHaveLength(1);
  }
});
