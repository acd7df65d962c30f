/** What several servers write for one execution in turn may reach its worker in another order. */
import { expect, test } from "vitest";
import { parallel, pause, task, workflow } from "../index.ts";
import { start, until } from "./testing/run-in-memory.ts";

const ORDERS = [
  [0, 1, 2],
  [0, 2, 1],
  [1, 0, 2],
  [1, 2, 0],
  [2, 0, 1],
  [2, 1, 0],
  [2, 2, 1, 1, 0],
  [2, 0, 1, 0, 2],
];

test.each(ORDERS.flatMap((order) => [false, true].map((busy) => ({ order, busy }))))(
  "EXE-52 resumes that are heard in the order $order all arrive, also while something is written: $busy",
  async ({ order, busy }) => {
    let release = () => {};
    const slow = task({ name: "slow" }, () => new Promise<void>((resolve) => (release = resolve)));
    const note = task({ name: "note" }, async (x: unknown) => x);
    const wf = workflow({ name: "pushed" }, async () => {
      const [, ...got] = await parallel([
        () => slow(),
        () => pause("a"),
        () => pause("b"),
        () => pause("c"),
      ]);
      return note(got);
    });
    const execution = start(wf);
    const copy = execution.claim();
    await until(() => execution.types.filter((type) => type === "TASK_PAUSED").length === 3);
    const resumeAll = () => {
      const pushes: (() => void)[] = [];
      execution.engine.onPush = (push) => void pushes.push(push);
      for (const name of ["a", "b", "c"]) execution.resume(name, name);
      for (const i of order) pushes[i]?.();
    };
    if (busy) {
      // The outcome of `slow` is recorded, and its worker has not heard so.
      execution.engine.onReply = (_, __, reply) => {
        if (execution.row.waits.length > 0) resumeAll();
        return reply;
      };
    } else {
      resumeAll();
      expect(copy.head).toBe(execution.row.head);
    }
    release();
    expect(await copy.ended).toBe("terminal");
    expect(execution.row).toMatchObject({ state: "COMPLETED", output: ["a", "b", "c"] });
  },
);
