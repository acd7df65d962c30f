import type { ExecutionRecord } from "@engine/contract";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Cluster, type ClusterServer, startCluster } from "../harness/cluster.ts";
import type { SseFrame } from "../harness/sse.ts";
import { until } from "../harness/until.ts";

let cluster: Cluster;
let near: ClusterServer;
let far: ClusterServer;
beforeAll(async () => {
  cluster = await startCluster({ workers: ["one"] });
  [near, far] = cluster.servers as [ClusterServer, ClusterServer];
  await cluster.register("counting", "interview", "slow");
});
afterAll(() => cluster[Symbol.asyncDispose]());

interface Reading {
  readonly read: SseFrame[];
  /** How the stream ended: closed by its server, or broken off. */
  readonly ended: Promise<"closed" | "broken">;
}

function reading(frames: AsyncIterable<SseFrame>): Reading {
  const read: SseFrame[] = [];
  const readAll = async () => {
    for await (const frame of frames) read.push(frame);
  };
  const ended = readAll().then(
    () => "closed" as const,
    () => "broken" as const,
  );
  return { read, ended };
}

const isState = ({ event }: SseFrame) => event !== "task.progress";
const stateOf = ({ id, event }: SseFrame) => `${id} ${event}`;

test("PRG-6 EXE-91 EXE-93 readers on both servers see the same states and the same progress in the same order", async () => {
  const started = reading(far.http.stream("/workflows/default/counting/run/stream", 40));
  await until("it is created", () => started.read.length > 0);
  const id = String(started.read[0]?.data["execution_id"]);
  const others = [near, far].map(({ http }) => reading(http.follow(id)));
  await Promise.all([started, ...others].map(({ ended }) => ended));

  const states = started.read.filter(isState).map(stateOf);
  expect(states.map((one) => one.split(" ")[1])).toEqual([
    "counting.execution.created",
    "counting.execution.claimed",
    "counting.execution.running",
    "counting.execution.completed",
  ]);
  const ran = started.read.filter((frame) => !isState(frame)).map(({ data }) => data);
  expect(ran.length).toBeGreaterThan(40);
  for (const { read } of [started, ...others]) {
    // Whoever joins later sees a later part, and from there on everything.
    const seen = read.filter(isState).map(stateOf);
    expect(seen).toEqual(states.slice(states.length - seen.length));
    const progress = read.filter((frame) => !isState(frame)).map(({ data }) => data);
    expect(progress.length).toBeGreaterThan(40);
    expect(progress).toEqual(ran.slice(ran.length - progress.length));
  }
});

test("EXE-93 I3 a reader whose server is killed goes on at another one with Last-Event-ID: no state is missing, none comes twice", async () => {
  const id = await cluster.start("interview", cluster.home.file("interview.txt"));
  const seen: SseFrame[] = [];
  const resume = (answer: string) =>
    cluster.http.post(`/workflows/default/interview/resume/${id}/async`, answer);

  const first = reading(far.http.follow(id));
  await until("it asks", () => first.read.some(({ event }) => event.endsWith("paused")));
  await far.process.kill();
  expect(await first.ended).toBe("broken");
  seen.push(...first.read);
  // Meanwhile it goes on, without a reader.
  expect(await resume("one")).toMatchObject({ status: 202 });
  await cluster.untilIs(id, ({ state, pause }) => state === "PAUSED" && pause?.name === "second");

  const second = reading(near.http.follow(id, seen.at(-1)?.id));
  await until("it asks again", () => second.read.some(({ event }) => event.endsWith("paused")));
  await far.startAgain();
  await near.process.kill();
  expect(await second.ended).toBe("broken");
  seen.push(...second.read);
  expect(await resume("two")).toMatchObject({ status: 202 });

  const third = reading(far.http.follow(id, seen.at(-1)?.id));
  expect(await third.ended).toBe("closed");
  seen.push(...third.read);
  expect(third.read.at(-1)).toMatchObject({
    event: "interview.execution.completed",
    data: { output: ["one", "two"] },
  });
  const whole = reading(far.http.follow(id, "0"));
  expect(await whole.ended).toBe("closed");
  // A follower begins with the state at that moment; what lay before it asks for with an id.
  const since = whole.read.findIndex((frame) => stateOf(frame) === stateOf(seen[0] as SseFrame));
  expect(seen.map(stateOf)).toEqual(whole.read.slice(since).map(stateOf));
  await near.startAgain();
});

test("WRK-8 EXE-81 when the server that holds the worker's stream is killed, the worker goes on with what it runs at the other one", async () => {
  const input = { steps: 60, ms: 100 };
  const path = "/workflows/default/slow/run/async";
  const { body } = await cluster.http.post<ExecutionRecord>(path, input);
  for (const server of [near, far]) {
    await cluster.untilIs(body.execution_id, ({ state }) => state === "RUNNING");
    await server.process.kill();
    await server.startAgain();
  }
  expect(await cluster.untilEnded(body.execution_id)).toMatchObject({ output: 6_000 });
  const log = await cluster.http.log(body.execution_id);
  expect(log.filter(({ type }) => type === "WORKFLOW_CLAIMED")).toHaveLength(1);
});
