import { readFile } from "node:fs/promises";
import type { ExecutionRecord } from "@engine/contract";
import { expect, test } from "vitest";
import { CliProcess } from "../harness/cli-process.ts";
import { serverUrl } from "../harness/engine.ts";
import { fixture } from "../harness/engine-access.ts";
import { createHome, type Home } from "../harness/home.ts";
import { Http } from "../harness/http.ts";
import { until } from "../harness/until.ts";

function startDev(home: Home): CliProcess {
  const args = ["dev", "--no-watch", "--port", "0", fixture("hello"), fixture("ledger")];
  return new CliProcess(args, { cwd: home.path, env: { ENGINE_HOME: home.file(".engine") } });
}

async function registered(http: Http, workflow: string): Promise<void> {
  await until(`${workflow} is registered`, async () => {
    return (await http.get(`/workflows/default/${workflow}`)).status === 200;
  });
}

test("EXE-95 dev registers its files and runs them in one process", async () => {
  await using home = await createHome();
  await using dev = startDev(home);
  const http = new Http(await serverUrl(dev));
  await registered(http, "hello_world");
  const answer = await http.post("/hello_world", "one process");
  expect(answer).toMatchObject({ status: 200, body: { output: "Hello, one process!" } });
});

test("I4 after a kill -9 of the one process the next one finishes what ran, recorded bodies excepted", async () => {
  await using home = await createHome();
  await using first = startDev(home);
  const http = new Http(await serverUrl(first));
  await registered(http, "chain");
  const file = home.file("bodies.txt");
  const input = { file, value: 0, ms: 150 };
  const { body } = await http.post<ExecutionRecord>("/workflows/chain/run/async", input);
  const id = body.execution_id;
  const outcomes = async () => {
    return (await http.log(id)).filter(({ type }) => type === "TASK_COMPLETED").length;
  };
  await until("two bookings are recorded", async () => (await outcomes()) >= 2);
  await first.kill();

  await using next = startDev(home);
  const again = new Http(await serverUrl(next));
  await until("it has ended", async () => (await again.execution(id)).state === "COMPLETED");
  expect((await again.execution(id)).output).toBe(6);
  const runs = (await readFile(file, "utf8")).trimEnd().split("\n");
  const calls = runs.map((line) => line.split(" ")[1]);
  expect(calls.slice(0, 2)).toEqual(["book~1", "book~2"]);
  // Only the booking that was open at the kill may have run twice.
  expect(calls.length).toBeLessThanOrEqual(7);
  expect([...new Set(calls)]).toEqual([1, 2, 3, 4, 5, 6].map((n) => `book~${n}`));
});
