import type { Evidence, Violation } from "../evidence.ts";

/** I7: every log replays on the code that made it, also one that was cancelled. */
export function replaysWell({ executions }: Evidence): readonly Violation[] {
  return executions.flatMap(({ execution_id, replay, history }) => {
    if (replay.result === "ok") return [];
    const message = `its log (${history.execution.state}) replays as ${replay.result}: ${replay.reason}`;
    return [{ judge: "replays well", execution_id, message }];
  });
}
