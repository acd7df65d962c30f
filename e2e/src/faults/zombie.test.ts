import { createHash } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { type ExecutionRecord, SESSION_HEADER, type WorkerRecord } from "@engine/contract";
import { expect, test } from "vitest";
import { startCluster } from "../harness/cluster.ts";
import type { EngineAccess } from "../harness/engine-access.ts";
import type { TcpBalancer } from "../harness/tcp-balancer.ts";
import { until } from "../harness/until.ts";
import { untilAllEnded } from "../kill/all-executions.ts";
import { readBodyRuns } from "../kill/body-lines.ts";
import { type Absence, gapsOf } from "../kill/violations.ts";
import { claimsOf, takenOverAt } from "./take-over.ts";
import { signaturesOf, startWitness, untilUnderWayOn, witnessViolations } from "./witnesses.ts";

const QUICK = { ENGINE_WORKERS__HEARTBEAT_INTERVAL: "1", ENGINE_WORKERS__SILENCE_TIMEOUT: "3" };
const STEPS = 10;
/** On a machine with too much to do a worker may be taken for lost before it is made to be. */
const OUT_OF_TOUCH_MS = 2_000;

test("I6 I5 LIV-2 CKP-2 a worker that was stopped for longer than its silence may last finds everything taken over: nothing it still writes is accepted, and it gets work again", async () => {
  await using cluster = await startCluster({ workers: [], env: QUICK });
  await cluster.register("witness");
  const way = await cluster.anotherWay();
  const tap = tapped(way);
  const zombie = cluster.startWorker("zombie", { ENGINE_SERVER_URL: way.url });
  await zombie.printed(/connected/);
  const file = cluster.home.file("bodies.txt");
  const given = { file, ms: 500, worker: "zombie" };
  const short = await Promise.all(
    Array.from({ length: 10 }, () => startWitness(cluster, { ...given, steps: STEPS })),
  );
  // Still under way when the zombie comes back.
  const long = await startWitness(cluster, { ...given, steps: 20 });
  const all = [...short, long];
  await untilUnderWayOn(cluster, "zombie", all);
  // Not before: on a busy machine the preferred worker is not always the quicker one.
  const heir = cluster.startWorker("heir");
  await heir.printed(/connected/);

  zombie.signal("SIGSTOP");
  // It takes effect a moment later.
  await setTimeout(100);
  const stopped = Date.now();
  for (const { id } of short) await cluster.untilEnded(id);
  const isTaken = async () => (await cluster.http.execution(long.id)).worker === "heir";
  await until("the other worker has the long one", isTaken);
  expect(await statusOf(cluster, "zombie")).toBe("offline");
  const told = await Promise.all(short.map(({ id }) => cluster.http.log(id)));

  zombie.signal("SIGCONT");
  await until("the zombie is back", async () => (await statusOf(cluster, "zombie")) === "online");
  await until("its late outcomes were refused", () => tap.staleAnswers > 0);
  // What it could write by hand, its session being valid again, is refused as well.
  const [first, second] = claimsOf(await cluster.http.log(long.id));
  const generation = first?.generation ?? 0;
  expect(second).toMatchObject({ worker: "heir", reason: "recover", generation: generation + 1 });
  const late = { id: long.id, generation, session: tap.session ?? "" };
  expect(await lateAnswers(cluster, late)).toEqual(refusals(generation + 1));

  const after = await cluster.http.post<ExecutionRecord>(
    "/workflows/witness/run/sync",
    { file: cluster.home.file("after.txt"), steps: 2, ms: 10 },
    { "x-engine-require-worker": "zombie" },
  );
  expect(after.body).toMatchObject({ state: "COMPLETED", output: [zombie.pid, zombie.pid] });

  await untilAllEnded(cluster, 30_000);
  expect(await Promise.all(short.map(({ id }) => cluster.http.log(id)))).toEqual(told);
  for (const { id } of all) {
    const log = await cluster.http.log(id);
    const takenAt = takenOverAt(log, "zombie") ?? Number.NaN;
    const since = log.filter(({ recorded_at }) => Date.parse(recorded_at) >= takenAt);
    expect(signaturesOf(since).every((pid) => pid === heir.pid)).toBe(true);
    expect(signaturesOf(log)).toContain(zombie.pid);
  }
  const losses: Absence[] = [
    { pid: zombie.pid, from: stopped, to: stopped },
    ...gapsOf(zombie.pid, tap.answered, OUT_OF_TOUCH_MS),
  ];
  const { violations, extraRuns } = await witnessViolations(cluster, all, { file, losses });
  expect(violations).toEqual([]);
  // One body of each was under way, and no other one ran twice.
  expect(extraRuns).toBeLessThanOrEqual(all.length);
  const bodies = [...(await readBodyRuns(file)).values()].flatMap((calls) => [...calls.values()]);
  const begunLate = bodies.flat().filter(({ pid, at }) => pid === zombie.pid && at > stopped);
  expect(begunLate).toEqual([]);
});

test("I5 I17 LIV-1 LIV-2 WRK-8 what a worker has that is heard but hears nothing goes on elsewhere, and once it hears again it gets work", async () => {
  const env = { ...QUICK, ENGINE_WORKERS__CLAIM_TIMEOUT: "1" };
  await using cluster = await startCluster({ workers: [], env });
  await cluster.register("witness");
  const way = await cluster.anotherWay();
  const tap = tapped(way);
  const deaf = cluster.startWorker("deaf", { ENGINE_SERVER_URL: way.url });
  await deaf.printed(/connected/);
  const file = cluster.home.file("bodies.txt");
  const given = { file, ms: 400, worker: "deaf", steps: 20 };
  const running = await Promise.all(Array.from({ length: 5 }, () => startWitness(cluster, given)));
  await untilUnderWayOn(cluster, "deaf", running);
  // Not before: on a busy machine the preferred worker is not always the quicker one.
  const heir = cluster.startWorker("heir");
  await heir.printed(/connected/);

  way.mute();
  const from = Date.now();
  // Nobody can know yet that these do not arrive.
  const fresh = await Promise.all(Array.from({ length: 5 }, () => startWitness(cluster, given)));
  await untilAllEnded(cluster, 30_000);
  const all = [...running, ...fresh];
  const losses: Absence[] = [
    { pid: deaf.pid, from, to: from },
    ...gapsOf(deaf.pid, tap.answered, OUT_OF_TOUCH_MS),
  ];
  const { violations } = await witnessViolations(cluster, all, { file, losses });
  expect(violations).toEqual([]);
  for (const { id } of running) {
    const log = await cluster.http.log(id);
    expect(claimsOf(log).map(({ worker }) => worker)).toEqual(["deaf", "heir"]);
    expect(signaturesOf(log).at(-1)).toBe(heir.pid);
  }
  for (const { id } of fresh) {
    expect(new Set(signaturesOf(await cluster.http.log(id)))).toEqual(new Set([heir.pid]));
  }

  way.unmute();
  const after = await cluster.http.post<ExecutionRecord>(
    "/workflows/witness/run/sync",
    { file: cluster.home.file("after.txt"), steps: 2, ms: 10 },
    { "x-engine-require-worker": "deaf" },
  );
  expect(after.body).toMatchObject({ state: "COMPLETED", output: [deaf.pid, deaf.pid] });
});

interface Tap {
  /** The secret of the worker's session. */
  readonly session: string | undefined;
  readonly staleAnswers: number;
  /** When the server said something to it. */
  readonly answered: readonly number[];
}

function tapped(way: TcpBalancer): Tap {
  const tap = {
    session: undefined as string | undefined,
    staleAnswers: 0,
    answered: [] as number[],
  };
  way.listen((text, from) => {
    if (from === "server") {
      tap.answered.push(Date.now());
      tap.staleAnswers += text.split('"stale_claim"').length - 1;
    } else
      tap.session = new RegExp(`${SESSION_HEADER}: (\\S+)`, "i").exec(text)?.[1] ?? tap.session;
  });
  return tap;
}

async function statusOf({ http }: EngineAccess, worker: string): Promise<string> {
  return (await http.get<WorkerRecord>(`/workers/${worker}`)).body.status;
}

/** Whatever a worker can write for an execution, under a generation that is over. */
async function lateAnswers(
  { http }: EngineAccess,
  { id, generation, session }: { id: string; generation: number; session: string },
): Promise<Record<string, unknown>> {
  const headers = { [SESSION_HEADER]: session, "x-engine-worker": "zombie" };
  const at = "/workers/zombie";
  const of = `${at}/executions/${id}`;
  const time = "2025-01-01 00:00:00.000";
  const checkpoint = { generation, base_seq: 3, state: "RUNNING", events: [] };
  const item = { execution_id: id, ...checkpoint };
  const release = { execution_id: id, generation, reason: "runner_lost" };
  const progress = { source_id: "sign~1", name: "sign", value: 1, time };
  const text = JSON.stringify("late");
  const sha256 = createHash("sha256").update(text).digest("hex");
  const key = { task: "sign", version: "1", digest: sha256 };
  const batches = await Promise.all([
    http.post<{ items: unknown[] }>(`${at}/checkpoints`, { items: [item] }, headers),
    http.post<{ items: unknown[] }>(`${at}/release`, { items: [release] }, headers),
  ]);
  const singles = await Promise.all([
    http.post(`/checkpoint/${id}`, checkpoint, headers),
    http.post(`${at}/progress/${id}`, { generation, items: [progress] }, headers),
    http.put(`${of}/values/${sha256}?generation=${generation}`, { text }, headers),
    http.put(`${of}/cache`, { generation, ...key, ttl_ms: 1_000, value: 1 }, headers),
    http.get(`${of}/events?generation=${generation}`, headers),
  ]);
  const [checkpoints, released] = batches.map(({ body }) => body.items[0]);
  const [single, progressed, kept, cached, read] = singles.map(({ body }) => body);
  return { checkpoints, released, single, progressed, kept, cached, read };
}

/** What {@link lateAnswers} must be. */
function refusals(generation: number): Record<string, unknown> {
  const stale = { code: "stale_claim", details: { state: "RUNNING", generation } };
  const refused = { error: expect.objectContaining(stale) };
  const item = expect.objectContaining(refused);
  return {
    ...{ checkpoints: item, released: item },
    ...{ single: refused, progressed: refused, kept: refused, cached: refused, read: refused },
  };
}
