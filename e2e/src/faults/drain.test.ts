import { hostname } from "node:os";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Cluster, startCluster } from "../harness/cluster.ts";
import type { Kill } from "../kill/violations.ts";
import { claimsOf } from "./take-over.ts";
import {
  signaturesOf,
  startWitness,
  untilUnderWayOn,
  type Witness,
  witnessViolations,
} from "./witnesses.ts";

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster({ workers: [] });
  await cluster.register("witness");
});
afterAll(() => cluster[Symbol.asyncDispose]());

/** More than a busy machine gets done while the second worker starts and the first one drains. */
const LONG_STEPS = 28;

/** Some that end soon and some that do not, all of them under way on that worker. */
async function startOn(
  worker: string,
  file: string,
): Promise<{ short: Witness[]; long: Witness[] }> {
  const given = { file, ms: 300, worker };
  const start = (steps: number) =>
    Promise.all(Array.from({ length: 8 }, () => startWitness(cluster, { ...given, steps })));
  const [short, long] = await Promise.all([start(4), start(LONG_STEPS)]);
  await untilUnderWayOn(cluster, worker, long);
  return { short, long };
}

async function claims({ id }: Witness): Promise<unknown[]> {
  return claimsOf(await cluster.http.log(id)).map(({ worker, generation }) => [worker, generation]);
}

test("WRK-12 LIV-5 a worker that gets SIGTERM under load ends what it can, gives the rest back between two tasks and exits 0; no body runs twice", async () => {
  const env = { ENGINE_WORKERS__DRAIN_TIMEOUT: "5" };
  const leaving = cluster.startWorker("leaving", env);
  await leaving.printed(/connected/);
  const file = cluster.home.file("drained.txt");
  const { short, long } = await startOn("leaving", file);
  await using heir = cluster.startWorker("heir");
  await heir.printed(/connected/);

  leaving.signal("SIGTERM");
  // It would have it for the asking, but takes nothing new.
  const fresh = await startWitness(cluster, { file, ms: 10, steps: 2, worker: "leaving" });
  expect(await leaving.result(20_000)).toMatchObject({ code: 0 });

  const all = [...short, ...long, fresh];
  for (const { id } of all) await cluster.untilEnded(id);
  const { violations, extraRuns } = await witnessViolations(cluster, all, { file, losses: [] });
  expect(violations).toEqual([]);
  expect(extraRuns).toBe(0);
  for (const one of short) expect(await claims(one)).toEqual([["leaving", 1]]);
  const handedOver = [
    ["leaving", 1],
    ["heir", 2],
  ];
  for (const one of long) {
    expect(await claims(one)).toEqual(handedOver);
    const pids = signaturesOf(await cluster.http.log(one.id));
    expect(new Set(pids)).toEqual(new Set([leaving.pid, heir.pid]));
    // Each task is of the one or of the other: the change comes once.
    expect(pids.lastIndexOf(leaving.pid)).toBe(pids.indexOf(heir.pid) - 1);
  }
  expect(signaturesOf(await cluster.http.log(fresh.id))).toEqual([heir.pid, heir.pid]);
});

test("WRK-13 a second signal makes a worker give everything back and exit 1 within 2 s; only open bodies run again", async () => {
  const hurried = cluster.startWorker("hurried");
  await hurried.printed(/connected/);
  const file = cluster.home.file("hurried.txt");
  const { long } = await startOn("hurried", file);
  await using heir = cluster.startWorker("next");
  await heir.printed(/connected/);

  hurried.signal("SIGTERM");
  const from = Date.now();
  hurried.signal("SIGINT");
  expect(await hurried.result(10_000)).toMatchObject({ code: 1 });
  const to = Date.now();
  // WRK-13 gives no more, on whatever machine.
  expect(to - from).toBeLessThanOrEqual(2_000);
  const loss: Kill = { target: "worker", pid: hurried.pid, from, to };

  for (const { id } of long) await cluster.untilEnded(id);
  const { violations, extraRuns } = await witnessViolations(cluster, long, {
    ...{ file, losses: [loss] },
  });
  expect(violations).toEqual([]);
  expect(extraRuns).toBeLessThanOrEqual(long.length);
  for (const one of long) {
    expect(await claims(one)).toEqual([
      ["hurried", 1],
      ["next", 2],
    ]);
  }
});

test.each(["that runs", "that drains"])(
  "WRK-4 WRK-12 a process that starts under the name of one %s goes on with everything; the earlier one exits 1 and names it",
  async (which) => {
    const first = cluster.startWorker("twin");
    await first.printed(/connected/);
    const file = cluster.home.file(`twin ${which}.txt`);
    const { long } = await startOn("twin", file);

    const from = Date.now();
    if (which === "that drains") first.signal("SIGTERM");
    await using second = cluster.startWorker("twin");
    const { code, stdout, stderr } = await first.result(20_000);
    const loss: Kill = { target: "worker", pid: first.pid, from, to: Date.now() };
    expect(code).toBe(1);
    expect(stdout + stderr).toContain(`process ${second.pid} on ${hostname()}`);

    for (const { id } of long) await cluster.untilEnded(id);
    const { violations, extraRuns } = await witnessViolations(cluster, long, {
      ...{ file, losses: [loss] },
    });
    expect(violations).toEqual([]);
    expect(extraRuns).toBeLessThanOrEqual(long.length);
    for (const one of long) {
      expect(await claims(one)).toEqual([
        ["twin", 1],
        ["twin", 2],
      ]);
      const pids = signaturesOf(await cluster.http.log(one.id));
      expect(pids.lastIndexOf(first.pid)).toBe(pids.indexOf(second.pid) - 1);
    }
  },
);
