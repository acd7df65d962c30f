import { expect, test } from "vitest";
import { call, type RoutingInput, sleep, task, workflow } from "../index.ts";
import type { Delta } from "../replay/port.ts";
import { crashEverywhere } from "./testing/crash-sweep.ts";
import { Scene } from "./testing/scene.ts";

const child = workflow({ name: "child" }, async (n: number) => n + 1);
const settle = task({ name: "settle" }, async (n: number) => n);

/** A run of a parent whose call has that routing input, with the deltas that it sent. */
async function ran(routingInput: RoutingInput | undefined) {
  const options = routingInput ? { routingInput } : {};
  const wf = workflow({ name: "w" }, async (n: number) => call(child, n, options));
  const scene = new Scene([wf, child]);
  const deltas: Delta[] = [];
  scene.onDelta = (_, delta) => void deltas.push(delta);
  await scene.run(1);
  return { scene, deltas };
}

test("RIN-3 CKP-1 a call's routing input rides its checkpoint to the child's row, and is in no log", async () => {
  const given = await ran({ dataset: "berlin", shard: { of: 7 } });
  const none = await ran(undefined);
  expect(given.deltas.flatMap(({ routing_inputs: sent = [] }) => sent)).toEqual([
    '{"call~1":{"dataset":"berlin","shard":{"of":7}}}',
  ]);
  expect(given.scene.row("e2").routing_input).toBe('{"dataset":"berlin","shard":{"of":7}}');
  expect(given.scene.row("e1").routing_input).toBeNull();
  const bare = ({ routing_inputs: _, ...delta }: Delta) => delta;
  expect(given.deltas.map(bare)).toEqual(none.deltas);
  for (const id of ["e1", "e2"]) expect(given.scene.log(id)).toEqual(none.scene.log(id));
});

test("RIN-1 a call without routing input, or with an empty one, sends none", async () => {
  for (const routingInput of [undefined, {}]) {
    const { scene, deltas } = await ran(routingInput);
    expect(deltas.every((delta) => !("routing_inputs" in delta))).toBe(true);
    expect(scene.row("e2").routing_input).toBeNull();
  }
});

test.each<[string, unknown]>([
  ["not_object", null],
  ["not_object", ["berlin"]],
  ["bad_value", { dataset: ["berlin"] }],
  ["bad_value", { dataset: undefined }],
  ["bad_key", { "a.berlin": 1 }],
  ["too_large", { dataset: "berlin".repeat(1_000) }],
])(
  "RIN-2 a call with a routing input that is %s fails by itself, without its values",
  async (reason, value) => {
    const wf = workflow({ name: "w" }, async () => {
      try {
        return await call(child, 1, { routingInput: value as RoutingInput });
      } catch (error) {
        await sleep("1h");
        return (error as { failure: unknown }).failure;
      }
    });
    const scene = new Scene([wf, child]);
    // Once more from the log, behind the sleep.
    await scene.run(null);
    expect(scene.row()).toMatchObject({
      state: "COMPLETED",
      output: { type: "InvalidInputError", details: { reason }, task_call_id: "call~1" },
    });
    expect(scene.engine.rows.has("e2")).toBe(false);
    expect(JSON.stringify(scene.log())).not.toContain("berlin");
  },
);

test("RIN-3 EXE-22 wherever workers crash, the child has its routing input and the log stays the same", async () => {
  const wf = workflow({ name: "w" }, async (n: number) => {
    const first = await call(child, await settle(n), { routingInput: { dataset: "berlin" } });
    return call(child, first, { routingInput: { dataset: "paris" } });
  });
  const scene = new Scene([wf, child]);
  await scene.run(1);
  expect(routingOf(scene)).toEqual([null, '{"dataset":"berlin"}', '{"dataset":"paris"}']);
  await crashEverywhere(scene, []);
  for (const crash of scene.crashPoints) {
    const again = scene.after(crash);
    await again.toEnd();
    expect(routingOf(again)).toEqual(routingOf(scene));
  }
});

function routingOf({ engine }: Scene): readonly (string | null)[] {
  return [...engine.rows.values()].map(({ routing_input }) => routing_input);
}
