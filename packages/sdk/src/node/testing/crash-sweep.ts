import { deepEqual, ok } from "node:assert/strict";
import { isOutcome, isTerminal } from "@engine/contract";
import type { Scene } from "./scene.ts";

/**
 * What must hold wherever all workers are lost at once: the execution comes to the end it would have
 * come to, with the same outcome of every call, and no body whose outcome is recorded runs again.
 *
 * @param ran Task bodies add `<execution_id>:<task_call_id>` here when they run.
 */
export async function crashEverywhere(first: Scene, ran: string[]): Promise<void> {
  ok(isTerminal(first.row().state), `${first.row().state} is an end`);
  ok(first.crashPoints.length > 1, "there are points to crash at");
  for (const crash of first.crashPoints) {
    ran.length = 0;
    const again = first.after(crash);
    await again.toEnd();
    deepEqual(endsOf(again), endsOf(first), crash.at);
    const recorded = [...crash.logs].flatMap(([id, log]) =>
      log.filter(({ type }) => isOutcome(type)).map(({ source_id }) => `${id}:${source_id}`),
    );
    const repeated = ran.filter((call) => recorded.includes(call));
    deepEqual(repeated, [], crash.at);
  }
}

/** How everything ended: each execution, each of its calls. */
function endsOf({ engine }: Scene): string[] {
  return [...engine.rows.values()].flatMap(({ execution_id, state, output, failure }) => [
    `${execution_id} ${state} ${JSON.stringify(output)} ${failure?.type ?? ""}`,
    ...engine
      .log(execution_id)
      .filter(({ type, kind }) => isOutcome(type) && kind !== "parallel" && kind !== "graph")
      .map(
        ({ type, source_id, value }) =>
          `${execution_id} ${source_id} ${type} ${JSON.stringify(value)}`,
      )
      .sort(),
  ]);
}
