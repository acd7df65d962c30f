import { createClient } from "@engine/client";
import type { ExecutionSummary } from "@engine/contract";
import { expect, test, vi } from "vitest";
import { startDev } from "../started-dev.ts";
import { liveOnOtherVersions } from "./live-executions.ts";
import { replayOnThread } from "./replay-check.ts";

// Servers and threads start here, which takes its time on a busy machine.
vi.setConfig({ testTimeout: 60_000 });

const REVIEW = `
import { pause, workflow } from "@engine/sdk";
export const review = workflow({ name: "review" }, async (n: number) => pause("approve"));
`;
const BUNDLE = `import { pause, workflow } from "@engine/sdk";
export const review = workflow({ name: "review" }, async () => pause("approve"));
`;
const NEVER = new Promise<void>(() => {});

test("EXE-95 live executions of other versions are found newest first, with how many were left out", async () => {
  await using dev = await startDev({ "review.ts": REVIEW });
  const ids: string[] = [];
  const run = async (...flags: string[]) => {
    const args = ["workflow", "run", "review", "1", "--mode", "sync", "--format", "json"];
    ids.unshift(JSON.parse((await dev.engine(...args, ...flags)).out).execution_id);
  };
  for (let runs = 0; runs < 3; runs++) await run();
  const client = createClient({ baseUrl: dev.url });
  const ref = { ns: "default", wf: "review" };
  const { executions, leftOut } = await liveOnOtherVersions(client, ref, { version: 2, limit: 2 });
  expect(executions.map(({ execution_id }) => execution_id)).toEqual(ids.slice(0, 2));
  expect(leftOut).toBe(1);

  // Those that have ended, and those of the version itself, need no check.
  await dev.engine("workflow", "resume", "review", ids[0] ?? "");
  const others = await liveOnOtherVersions(client, ref, { version: 2, limit: 2 });
  expect(others).toMatchObject({ executions: [{ execution_id: ids[1] }, {}], leftOut: 0 });
  const own = await liveOnOtherVersions(client, ref, { version: 1, limit: 2 });
  expect(own).toEqual({ executions: [], leftOut: 0 });
});

test("EXE-95 code that never ends is stopped, and keeps neither the server nor the next save", async () => {
  await using dev = await startDev({ "review.ts": REVIEW });
  const started = await dev.engine(
    ...["workflow", "run", "review", "1", "--mode", "sync", "--format", "json"],
  );
  const task = {
    baseUrl: dev.url,
    workflow: "default/review",
    executions: [JSON.parse(started.out) as ExecutionSummary],
  };
  const stopped = Promise.withResolvers<void>();
  const looping = replayOnThread(`${BUNDLE}while (true) {}`, task, stopped.promise);
  expect(await replayOnThread(BUNDLE, task, NEVER)).toMatchObject({
    replayed: [{ result: "ok" }],
    failed: undefined,
  });
  expect((await dev.engine("health")).code).toBe(0);
  stopped.resolve();
  expect(await looping).toEqual({ replayed: [], failed: undefined });
});

test("code that does not load, or ends its thread, is told and replays nothing", async () => {
  const task = { baseUrl: "http://127.0.0.1:9", workflow: "default/review", executions: [] };
  for (const [bundle, failed] of [
    [`throw new TypeError("no rate");`, "its code does not load: TypeError: no rate"],
    [`import "never-installed";`, expect.stringMatching(/does not load: .*never-installed/)],
    ["export const other = 1;", "its code exports no workflow default/review"],
    [
      `setTimeout(() => { throw new Error("late"); }); while (false);${BUNDLE}await new Promise(() => setInterval(() => {}, 9));`,
      "Error: late",
    ],
    ["process.exit(3);", "its code ended the thread it ran on"],
  ] as const) {
    expect(await replayOnThread(bundle, task, NEVER)).toEqual({ replayed: [], failed });
  }
});

test("EXE-59 code is replayed with the packages of the worker, as it would run", async () => {
  const task = { baseUrl: "http://127.0.0.1:9", workflow: "default/review", executions: [] };
  const bundle = `import { uneval } from "devalue";${BUNDLE}uneval(1);`;
  expect(await replayOnThread(bundle, task, NEVER)).toEqual({ replayed: [], failed: undefined });
});
