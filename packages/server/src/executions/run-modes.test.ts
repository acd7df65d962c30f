/** A surface of its own kind, which tells of executions in sentences: modes, waiting and leaving are the same. */
import { type ExecutionRow, type RunMode, referenceOf, toPlain } from "@engine/contract";
import { LargeJson } from "@engine/http/json";
import { expect, test } from "vitest";
import type { ScriptedWorker } from "../testing/scripted-worker.ts";
import { hello, TestEngine } from "../testing/start-engine.ts";
import { type Asked, type Asker, type Manner, type Projection, resume, run } from "./run-modes.ts";

const SENTENCES: Projection<string, AsyncIterable<unknown>> = {
  frames: {
    record: ({ state, output }: ExecutionRow) => ({ said: `${state} ${toPlain(output)}` }),
    event: ({ event }) => ({ heard: event.type }),
  },
  accepted: ({ workflow, state }, { existing }) =>
    `${existing ? "already there" : "begun"}: ${workflow} ${state}`,
  settled: ({ state, output }, { existing }) =>
    `${existing ? "known" : "new"}: ${state} ${toPlain(output)}`,
  followed: (follower) => follower.frames(),
};

function by(mode: RunMode, manner: Manner = {}, over: Partial<Asker> = {}) {
  const { signal } = new AbortController();
  const asker = { principal: null, signal: () => signal, hasLeft: () => false, ...over };
  const asked: Asked<string, AsyncIterable<unknown>> = {
    mode,
    manner,
    asker,
    longestSeconds: 300,
    as: SENTENCES,
  };
  return asked;
}

async function read(frames: string | AsyncIterable<unknown>): Promise<unknown[]> {
  const told: unknown[] = [];
  if (typeof frames === "string") return expect.unreachable("a stream was asked for");
  for await (const frame of frames) told.push((frame as { data: unknown }).data);
  return told;
}

async function complete(worker: ScriptedWorker): Promise<string> {
  const assigned = await worker.next("assign");
  await worker.completed(assigned, "Hello");
  return assigned.execution_id;
}

test("EXE-81 a surface answers in its own words what was accepted, what has ended and what goes on", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const { executions } = t.engine;
  expect(await run(executions, hello(), by("async"))).toBe("begun: hello CREATED");
  await complete(worker);
  const answer = run(executions, hello(), by("sync"));
  await complete(worker);
  expect(await answer).toBe("new: COMPLETED Hello");
  const late = run(executions, hello(), by("sync", { timeout: 2 }));
  const assigned = await worker.next("assign");
  await t.time.advance(2_000);
  expect(await late).toBe("new: CLAIMED null");
  await worker.completed(assigned, null);
});

test("EXE-84 a known key is answered by the surface for the execution that is there, in each mode", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const { executions } = t.engine;
  const request = { ...hello(), idempotency_key: "k" };
  expect(await run(executions, request, by("async"))).toBe("begun: hello CREATED");
  await complete(worker);
  expect(await run(executions, request, by("async"))).toBe("already there: hello COMPLETED");
  expect(await run(executions, request, by("sync"))).toBe("known: COMPLETED Hello");
  const frames = await run(executions, request, by("stream"));
  expect(await read(frames)).toEqual([{ said: "COMPLETED Hello" }]);
});

test("EXE-91 a stream has the surface's view of each state and each event", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const { executions } = t.engine;
  const frames = await run(executions, hello(), by("stream", { events: "all" }));
  await complete(worker);
  expect(await read(frames)).toEqual([
    { heard: "WORKFLOW_CREATED" },
    { said: "CREATED null" },
    { heard: "WORKFLOW_CLAIMED" },
    { said: "CLAIMED null" },
    { heard: "WORKFLOW_STARTED" },
    { said: "RUNNING null" },
    { heard: "WORKFLOW_COMPLETED" },
    { said: "COMPLETED Hello" },
  ]);
});

test("EXE-91 the surface's view is given the values themselves, also those that lie outside the log", async () => {
  await using t = await TestEngine.start({ executions: { inline_value_bytes: 1024 } });
  const worker = await t.worker();
  const input = LargeJson.of(JSON.stringify(Array.from({ length: 1000 }, () => "x")));
  const frames = {
    ...SENTENCES.frames,
    record: ({ input }: ExecutionRow) => ({ isElsewhere: referenceOf(input) !== undefined }),
  };
  const asked = { ...by("stream"), as: { ...SENTENCES, frames } };
  const told = run(t.engine.executions, { ...hello(), input }, asked);
  await complete(worker);
  expect(await read(await told)).toEqual(Array(4).fill({ isElsewhere: false }));
  expect([...t.values.texts]).toHaveLength(1);
});

test("EXE-52 a resume is answered by the surface, in each mode", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const { executions } = t.engine;
  const paused = async () => {
    const { execution_id } = await t.run();
    await worker.paused(await worker.next("assign"));
    return { execution_id, input: 1, by: null };
  };
  expect(await resume(executions, await paused(), by("async"))).toBe("begun: hello RESUMING");
  await complete(worker);
  const answer = resume(executions, await paused(), by("sync"));
  await complete(worker);
  expect(await answer).toBe("new: COMPLETED Hello");
  const frames = await resume(executions, await paused(), by("stream"));
  await complete(worker);
  const [first, ...rest] = await read(frames);
  expect(first).toEqual({ said: "RESUMING null" });
  expect(rest.at(-1)).toEqual({ said: "COMPLETED Hello" });
});

test.each(["sync", "stream"] as const)(
  "EXE-81 whoever leaves a %s run of the surface cancels it only where they said so",
  async (mode) => {
    await using t = await TestEngine.start();
    const { executions } = t.engine;
    const leaving = async (manner: Manner) => {
      const caller = new AbortController();
      const { signal } = caller;
      const left = { signal: () => signal, hasLeft: () => signal.aborted };
      const answer = run(executions, hello(), by(mode, manner, left));
      await t.time.advance(0);
      caller.abort();
      const frames = await answer;
      if (typeof frames !== "string") await read(frames);
      const page = { order: "created_desc", limit: 1, offset: 0 } as const;
      await t.time.advance(0);
      return (await executions.list(page)).items[0];
    };
    expect(await leaving({})).toMatchObject({ state: "CREATED" });
    expect(await leaving({ cancel_on_disconnect: true })).toMatchObject({ state: "CANCELLED" });
  },
);
