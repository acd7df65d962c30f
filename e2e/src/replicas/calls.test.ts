import { readFile } from "node:fs/promises";
import type { ExecutionRecord, ExecutionSummary } from "@engine/contract";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Cluster, type ClusterServer, startCluster } from "../harness/cluster.ts";
import { until } from "../harness/until.ts";

// The worker hangs on the first server; callers talk to either.
let cluster: Cluster;
let near: ClusterServer;
let far: ClusterServer;
beforeAll(async () => {
  cluster = await startCluster({ workers: [] });
  [near, far] = cluster.servers as [ClusterServer, ClusterServer];
  const worker = cluster.startWorker("one", { ENGINE_SERVER_URL: near.http.url });
  await worker.printed(/connected/);
  await cluster.register("hello", "review", "mailbox", "tenancy");
});
afterAll(() => cluster[Symbol.asyncDispose]());

test("EXE-81 a sync call is answered by the server that has no worker", async () => {
  for (const server of [far, near, far]) {
    const answer = await server.http.post<ExecutionRecord>(
      "/workflows/hello_world/run/sync",
      "you",
    );
    expect(answer).toMatchObject({ status: 200, body: { output: "Hello, you!" } });
  }
});

test("EXE-81 EXE-82 who waits on one server hears of the pause, the resume and the end that came by another", async () => {
  const article = { topic: "replicas", file: cluster.home.file("review.txt") };
  const paused = await far.http.post<ExecutionRecord>("/workflows/review/run/sync", article);
  expect(paused).toMatchObject({ status: 202, body: { state: "PAUSED" } });
  const id = paused.body.execution_id;
  const resume = `/workflows/default/review/resume/${id}/sync`;
  const resumed = await near.http.post<ExecutionRecord>(resume, { ok: true });
  expect(resumed).toMatchObject({ status: 200, body: { output: "published: On replicas" } });
  // A wait that begins when all is over is answered at once, and a second resume is refused.
  const waited = await far.http.get<ExecutionRecord>(`/executions/${id}?mode=sync`);
  expect(waited).toMatchObject({ status: 200, body: { output: "published: On replicas" } });
  const again = await far.http.post(resume, { ok: true });
  expect(again).toMatchObject({ status: 409, body: { error: { code: "execution_finished" } } });
});

test("I11 I12 of two resumes that race on two servers one wins, the other is told so", async () => {
  for (let round = 0; round < 5; round++) {
    const id = await cluster.start("review", {
      topic: "races",
      file: cluster.home.file("race.txt"),
    });
    await cluster.untilParked(id, "pause");
    const path = `/workflows/default/review/resume/${id}/async`;
    const answers = await Promise.all(
      [near, far].map(({ http }) => http.post<ExecutionRecord>(path, { ok: true })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 409]);
    expect(await cluster.untilEnded(id)).toMatchObject({ output: "published: On races" });
    const resumes = (await cluster.http.log(id)).filter(({ type }) => type === "WORKFLOW_RESUMING");
    expect(resumes).toHaveLength(1);
  }
});

test("I11 signals that come by both servers are each taken once, in the order of the log", async () => {
  const id = await cluster.start("mailbox");
  const waiting = far.http.get<ExecutionRecord>(`/executions/${id}?mode=sync`);
  await cluster.untilParked(id, "signal");
  for (const [letter, { http }] of [
    ["a", far],
    ["b", near],
    ["c", far],
  ] as const) {
    const sent = await http.post(`/executions/${id}/signals/letter`, letter);
    expect(sent).toMatchObject({ status: 202 });
  }
  expect(await waiting).toMatchObject({ status: 200, body: { output: ["a", "b", "c"] } });
});

test("EXE-42 DSP-9 a cancel by the server without a worker reaches the body that runs, its child and who waits", async () => {
  const file = cluster.home.file("tenancy.txt");
  const id = await cluster.start("tenancy", file);
  const lodgers = async () => {
    const path = "/executions?workflow=lodger&order=created_asc";
    return (await near.http.get<{ items: ExecutionSummary[] }>(path)).body.items;
  };
  const areWaiting = async () =>
    (await lodgers()).filter((one) => one.state === "PAUSED").length === 2;
  await until("both children wait", areWaiting);
  const waiting = near.http.get<ExecutionRecord>(`/executions/${id}?mode=sync`);
  const path = `/workflows/default/tenancy/cancel/${id}?mode=sync`;
  const cancelled = await far.http.post<ExecutionRecord>(path, { reason: "moved" });
  expect(cancelled).toMatchObject({ status: 200, body: { state: "CANCELLED" } });
  expect(await waiting).toMatchObject({ status: 409, body: { state: "CANCELLED" } });
  // The body was told: what its task had begun is undone.
  const lines = (await readFile(file, "utf8")).trimEnd().split("\n");
  expect(lines.map((line) => line.replace(/ \d+$/, ""))).toEqual(["moved in", "left"]);
  // Its child unwinds by itself; the one that was detached stays.
  const child = (await lodgers())[1]?.execution_id ?? "";
  expect(await cluster.untilEnded(child)).toMatchObject({ state: "CANCELLED" });
  expect((await lodgers())[0]).toMatchObject({ state: "PAUSED" });
});

test("EXE-84 I1 of two starts with one key on two servers one creates, both are answered for it", async () => {
  const headers = { "idempotency-key": "order-7" };
  const answers = await Promise.all(
    [near, far, near, far].map(({ http }) =>
      http.post<ExecutionRecord>("/workflows/mailbox/run/async", null, headers),
    ),
  );
  expect(answers.map(({ status }) => status)).toEqual([202, 202, 202, 202]);
  expect(new Set(answers.map(({ body }) => body.execution_id)).size).toBe(1);
  const created = answers.filter((one) => !one.headers.has("idempotency-replayed"));
  expect(created).toHaveLength(1);
});
