import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { FakeServer } from "../testing/fake-server.ts";
import { startTestWorker } from "../testing/test-worker.ts";
import { until } from "../testing/until.ts";

/** Functions are taken out of the globals as the module loads, as people write it. */
const TAKING = `
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { pause, task, workflow } from "@engine/sdk";
const { random } = Math;
const { now } = Date;
const { setTimeout: later } = globalThis;
const uuid = randomUUID;
const wait = promisify(setTimeout);
const nap = sleep;
const note = task({ name: "note" }, async (text) => text);
export const taken = workflow({ name: "taken" }, async () => {
  const drawn = { random: random(), uuid: uuid(), now: now() };
  await wait(1);
  await note("between");
  await nap(1);
  await new Promise((resolve) => void later(resolve, 1));
  await pause("go", { output: drawn });
  return drawn;
});
`;

test.each(["thread", "process"] as const)(
  "EXE-31 RUN-1 on a %s, what a bundle took out of the globals as it loaded is replay-safe in a body",
  async (runner) => {
    const server = new FakeServer();
    // The resume is a replay from the first line on.
    await using worker = await startTestWorker(server, { warm_executions: 0 });
    const id = server.start("taken", server.addModule(TAKING), { runner });
    await server.until(() => server.row(id).state === "PAUSED");
    await until(() => worker.status().running === 0);
    server.resume(id, "yes");
    const { state, output } = await server.finished(id);

    expect(state).toBe("COMPLETED");
    const log = server.log(id);
    const sleeps = log.filter(({ type, name }) => type === "TASK_STARTED" && name === "sleep");
    expect(sleeps).toHaveLength(3);
    const shown = log.find(({ type }) => type === "WORKFLOW_PAUSED");
    expect(shown?.value).toMatchObject({ output });
  },
  60_000,
);

test("EXE-31 the worker's own thread, where no user code runs, keeps the globals of the machine", async () => {
  const source = `
    const before = [Date, setTimeout, Math.random, console.log];
    await import(${JSON.stringify(import.meta.resolve("../index.ts"))});
    console.log(before.every((each, i) => each === [Date, setTimeout, Math.random, console.log][i]));
  `;
  const args = ["--conditions=@engine/source", "--input-type=module", "--eval", source];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  expect(stdout).toBe("true\n");
});
