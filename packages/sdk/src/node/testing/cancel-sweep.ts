import { deepEqual, equal } from "node:assert/strict";
import { type TaskContext, workflow } from "../../index.ts";
import { crashEverywhere } from "./crash-sweep.ts";
import { Scene } from "./scene.ts";

const ran: string[] = [];

/** A task's body of which the sweep sees that it runs. */
export function marked<Input, Output>(
  body: (input: Input, ctx: TaskContext) => Output,
): (input: Input, ctx: TaskContext) => Output {
  return (input, ctx) => {
    ran.push(`${ctx.executionId}:${ctx.taskCallId}`);
    return body(input, ctx);
  };
}

/** A rollback of which the sweep sees that it runs. */
export function undo(_: unknown, { executionId, taskCallId }: TaskContext): void {
  ran.push(`${executionId}:undo ${taskCallId}`);
}

/**
 * Runs `body` until it waits, cancels it; then again from every crash point of that. Wherever the
 * worker is lost, all comes to the same end, no body runs whose outcome is recorded (I4), and each
 * of `rollbacks` whose end is not recorded runs once. Returns the uninterrupted run.
 */
export async function cancelAndCrashEverywhere(
  body: () => Promise<unknown>,
  rollbacks: readonly string[],
): Promise<Scene> {
  const scene = new Scene([workflow({ name: "w" }, body)], {
    answer: ({ engine }) => {
      if (engine.row("e1").state === "CANCELLING") return false;
      engine.cancel("e1");
      return true;
    },
  });
  await scene.run();
  equal(scene.row().state, "CANCELLED");
  await crashEverywhere(scene, ran);
  for (const crash of scene.crashPoints) {
    ran.length = 0;
    await scene.after(crash).toEnd();
    const done = crash.logs
      .get("e1")
      ?.filter(({ type }) => type === "TASK_ROLLBACK_COMPLETED")
      .map(({ source_id }) => source_id);
    const undone = ran.flatMap((call) => call.split("undo ")[1] ?? []);
    const left = rollbacks.filter((call) => !done?.includes(call));
    deepEqual(undone.sort(), left.sort(), crash.at);
  }
  return scene;
}
