/** A start that is repeated with its key is answered for the execution that is there (EXE-84). */
import { expect, test } from "vitest";
import { hello, TestEngine } from "../testing/start-engine.ts";

const CHECKED = `import { workflow } from "@engine/sdk";
import { z } from "zod";
export const hello = workflow({ name: "hello", input: z.object({ n: z.number() }) }, async (input) => input);
`;

const keyed = (input: unknown) => ({ ...hello(input as null), idempotency_key: "order-1" });

test("EXE-84 a repeated start is answered though its workflow was deleted meanwhile", async () => {
  await using t = await TestEngine.start();
  const { row } = await t.engine.executions.start(keyed(1));
  await t.engine.catalog.delete("default", "hello");
  const again = await t.engine.executions.start(keyed(1));
  expect(again).toMatchObject({ row: { execution_id: row.execution_id }, existing: true });
  const other = t.engine.executions.start(keyed(2));
  await expect(other).rejects.toMatchObject({
    code: "idempotency_mismatch",
    details: { execution_id: row.execution_id },
  });
});

test("EXE-84 a repeated start is answered though a newer version refuses its input", async () => {
  await using t = await TestEngine.start();
  const { row } = await t.engine.executions.start(keyed("no number"));
  await t.engine.catalog.register({ source: CHECKED }, { by: null });
  const again = await t.engine.executions.start(keyed("no number"));
  expect(again.row.execution_id).toBe(row.execution_id);
  // Another input under the key is told of the key, not of the schema.
  await expect(t.engine.executions.start(keyed("another"))).rejects.toMatchObject({
    code: "idempotency_mismatch",
  });
  await expect(t.engine.executions.start(hello("no number"))).rejects.toMatchObject({
    code: "invalid_input",
  });
});

test("EXE-84 a repeated start is answered though the worker it asked for was forgotten", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker("once");
  const request = { ...keyed(1), required_worker: "once" };
  const { row } = await t.engine.executions.start(request);
  await worker.completed(await worker.next("assign"), 1);
  await t.engine.workers.disconnect(worker.ref);
  await t.engine.fleet.delete("once");
  const again = await t.engine.executions.startAndWait(request);
  const there = { execution_id: row.execution_id, state: "COMPLETED" };
  expect(again).toMatchObject({ row: there, existing: true });
});
