import { readdir } from "node:fs/promises";
import type { ExecutionRecord, WorkerRecord } from "@engine/contract";
import { smallDisk } from "@engine/store/small-disk";
import { expect, onTestFinished, test } from "vitest";
import { type Engine, startEngine } from "../harness/engine.ts";
import { until } from "../harness/until.ts";

const disk = smallDisk("size=1m");

const HEARTBEATS = { ENGINE_WORKERS__HEARTBEAT_INTERVAL: "2" };

test.skipIf(disk === undefined)(
  "RUN-5 LIV-5 a worker whose disk is full gives back what it cannot begin, says so and takes nothing until it has room",
  async () => {
    if (!disk) return;
    onTestFinished(() => disk.remove());
    await using engine = await startEngine({ workers: [], env: HEARTBEATS });
    await engine.register("hello");
    const full = engine.startWorker("full", { ENGINE_HOME: disk.path });
    await full.printed(/connected/);
    disk.fill();

    // The only worker there is: nothing is held against what it cannot run.
    const ids = await Promise.all(Array.from({ length: 6 }, () => start(engine)));
    await until("the worker says that it is unhealthy", async () => {
      const { status, healthy } = await worker(engine, "full");
      return status === "unhealthy" && !healthy;
    });
    expect((await records(engine, ids)).map(({ state }) => state)).toEqual(
      ids.map(() => "CREATED"),
    );
    expect(full.output).toMatch(/ENOSPC/);

    const well = engine.startWorker("well");
    await well.printed(/connected/);
    for (let n = 0; n < 14; n++) ids.push(await start(engine));
    const ended = await Promise.all(ids.map((id) => engine.untilEnded(id)));
    expect(ended.map(({ state }) => state)).toEqual(ids.map(() => "COMPLETED"));
    const owners = await Promise.all(ids.map((id) => lastClaim(engine, id)));
    expect(new Set(owners)).toEqual(new Set(["well"]));
    expect(await worker(engine, "full")).toMatchObject({ status: "unhealthy", load: 0 });
    expect(await readdir(`${disk.path}/modules`)).toEqual([]);

    disk.free();
    await until("the worker is well again", async () => {
      return (await worker(engine, "full")).status === "online";
    });
    await engine.http.post("/admin/workers/well/pause");
    const last = await start(engine);
    expect(await engine.untilEnded(last)).toMatchObject({ state: "COMPLETED" });
    expect(await lastClaim(engine, last)).toBe("full");
  },
  120_000,
);

function start(engine: Engine): Promise<string> {
  return engine.start("hello_world", "Ada");
}

async function worker(engine: Engine, name: string): Promise<WorkerRecord> {
  return (await engine.http.get<WorkerRecord>(`/workers/${name}`)).body;
}

function records(engine: Engine, ids: readonly string[]): Promise<ExecutionRecord[]> {
  return Promise.all(ids.map((id) => engine.http.execution(id)));
}

/** Which worker had it last. */
async function lastClaim(engine: Engine, id: string): Promise<string> {
  const claimed = (await engine.http.log(id)).findLast(({ type }) => type === "WORKFLOW_CLAIMED");
  return (claimed?.value as { worker?: string } | undefined)?.worker ?? "nobody";
}
