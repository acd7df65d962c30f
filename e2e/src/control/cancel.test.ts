import { readFile } from "node:fs/promises";
import type { ExecutionSummary } from "@engine/contract";
import { expect, test } from "vitest";
import { type Engine, startEngine } from "../harness/engine.ts";
import { until } from "../harness/until.ts";

/** A tenancy whose task runs and whose two lodgers wait. */
async function movedIn(engine: Engine): Promise<{ id: string; file: string }> {
  const file = engine.home.file("tenancy.txt");
  const id = await engine.start("tenancy", file);
  await until("the task runs", async () => (await linesOf(file)).length > 0);
  await until("both children wait", async () => {
    return (await lodgers(engine)).every((state) => state === "PAUSED");
  });
  return { id, file };
}

/** `<what> <process>`, in the order in which it happened. */
async function linesOf(file: string): Promise<string[]> {
  const text = await readFile(file, "utf8").catch(() => "");
  return text.split("\n").filter((line) => line !== "");
}

/** States of the children, the detached one first. */
async function lodgers(engine: Engine): Promise<string[]> {
  const path = "/executions?workflow=lodger&order=created_asc";
  const { body } = await engine.http.get<{ items: ExecutionSummary[] }>(path);
  return body.items.map(({ state }) => state);
}

test("EXE-42 EXE-21 EXE-56 a cancel rolls back what runs and ends the child, but not the detached one", async () => {
  await using engine = await startEngine();
  await engine.register("tenancy");
  const { id, file } = await movedIn(engine);
  const { code, stdout } = await engine.cli(
    ...["workflow", "cancel", "tenancy", id, "--sync", "--reason", "moved abroad"],
    ...["--format", "json"],
  );
  expect(code).toBe(0);
  // With --sync the answer is the end.
  expect(JSON.parse(stdout)).toMatchObject({ execution_id: id, state: "CANCELLED" });
  const pid = (await linesOf(file))[0]?.split(" ").at(-1);
  expect(await linesOf(file)).toEqual([`moved in ${pid}`, `left ${pid}`]);
  // The child unwinds by itself, maybe after its parent.
  await until("its child has ended", async () => (await lodgers(engine))[1] === "CANCELLED");
  expect(await lodgers(engine)).toEqual(["PAUSED", "CANCELLED"]);

  const log = await engine.http.log(id);
  expect(log.find(({ type }) => type === "WORKFLOW_CANCELLING")?.meta).toMatchObject({
    cause: "request",
    reason: "moved abroad",
  });
  const again = await engine.http.post(`/workflows/default/tenancy/cancel/${id}`);
  expect(again).toMatchObject({ status: 409, body: { error: { code: "execution_finished" } } });
});

test("EXE-42 EXE-17 when its worker is dead another one unwinds a cancelled execution", async () => {
  await using engine = await startEngine({ workers: [] });
  await engine.register("tenancy");
  const first = engine.startWorker("first");
  const { id, file } = await movedIn(engine);
  await first.kill();
  const cancelled = await engine.http.post(`/workflows/default/tenancy/cancel/${id}`);
  expect(cancelled).toMatchObject({ status: 202, body: { state: "CANCELLING" } });
  const again = await engine.http.post(`/workflows/default/tenancy/cancel/${id}`);
  expect(again).toMatchObject({ status: 202, body: { state: "CANCELLING" } });

  const second = engine.startWorker("second");
  expect(await engine.untilEnded(id)).toMatchObject({ state: "CANCELLED" });
  // The call that was under way is undone where it is unwound; it does not begin again.
  const [begun, ...rest] = await linesOf(file);
  expect(begun).toMatch(/^moved in/);
  expect(rest).toEqual([expect.stringMatching(/^left \d+$/)]);
  expect(rest[0]?.split(" ")[1]).toBe(String(second.pid));
  const types = (await engine.http.log(id)).map(({ type }) => type);
  expect(types.filter((type) => type === "WORKFLOW_CANCELLING")).toHaveLength(1);
  await until("its child has ended", async () => (await lodgers(engine))[1] === "CANCELLED");
  expect(await lodgers(engine)).toEqual(["PAUSED", "CANCELLED"]);
});
