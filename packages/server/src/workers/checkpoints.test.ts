import type { Assignment, Json, NewEvent } from "@engine/contract";
import { expect, test } from "vitest";
import type { ScriptedWorker } from "../testing/scripted-worker.ts";
import { TestEngine } from "../testing/start-engine.ts";

const child = { workflow: "default/hello", input: null, wait: true, detach: false };

/** A started execution, its log three events long. */
async function started(t: TestEngine, worker: ScriptedWorker): Promise<Assignment> {
  await t.run();
  const assigned = await worker.next("assign");
  await worker.started(assigned);
  return assigned;
}

test.each<[string, string, string, Json]>([
  ["TASK_STARTED", "sleep~1", "until", { until: "some day" }],
  ["TASK_STARTED", "signal~1", "name", {}],
  ["TASK_STARTED", "call~1", "workflow", { ...child, workflow: 7 }],
  ["TASK_STARTED", "call~1", "version", { ...child, version: { a: 1 } }],
  ["TASK_PAUSED", "pause~1", "name", { output: 1 }],
])(
  "CKP-1 a %s of %s without its %s is refused by name, and the execution is as it was",
  async (type, id, field, value) => {
    await using t = await TestEngine.start();
    const worker = await t.worker();
    const assigned = await started(t, worker);
    const event = worker.callEvent(type as NewEvent["type"], id, value);
    expect(await worker.checkpoint(assigned, 3, "RUNNING", [event])).toMatchObject({
      error: {
        code: "invalid_input",
        message: expect.stringContaining(`events[0].value.${field}: `),
        details: { issues: [{ path: `events[0].value.${field}` }] },
      },
    });
    const single = { generation: assigned.generation, base_seq: 3, events: [event] };
    const { execution_id } = assigned;
    const alone = t.engine.workers.checkpoint(worker.ref, execution_id, {
      ...single,
      state: "RUNNING",
    });
    await expect(alone).rejects.toMatchObject({ code: "invalid_input", status: 422 });
    expect(await t.row(execution_id)).toMatchObject({ head: 3, state: "RUNNING", worker: "w" });
  },
);

test("CKP-5 a malformed item does not touch the others", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const [bad, good] = [await started(t, worker), await started(t, worker)];
  const item = ({ execution_id, generation }: Assignment, value: Json) => ({
    execution_id,
    generation,
    base_seq: 3,
    state: "RUNNING" as const,
    events: [worker.callEvent("TASK_STARTED", "signal~1", value)],
  });
  const items = [item(bad, { name: 5 }), item(good, { name: "paid" })];
  expect(await t.engine.workers.checkpoints(worker.ref, items)).toMatchObject([
    { execution_id: bad.execution_id, error: { code: "invalid_input" } },
    { execution_id: good.execution_id, seq: 4, state: "RUNNING" },
  ]);
});

test("EXE-47 a call whose arguments could not be stored waits for nothing", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const assigned = await started(t, worker);
  const events = ["sleep~1", "signal~1", "call~1", "pause~1"].map((id) =>
    worker.callEvent("TASK_STARTED", id, null),
  );
  const answer = await worker.checkpoint(assigned, 3, "RUNNING", events);
  expect(answer).toMatchObject({ seq: 7, state: "RUNNING" });
  expect((await t.row(assigned.execution_id)).waits).toEqual([]);
});
