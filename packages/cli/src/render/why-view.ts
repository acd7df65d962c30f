import type { Why, WhyReason } from "@engine/contract";
import { ago } from "./elapsed.ts";
import type { Screen } from "./paint.ts";
import { stateMark } from "./state-mark.ts";
import { titled } from "./table.ts";

/** Why an execution waits, with the workers that come nearest to what it needs. */
export function whyView(why: Why, { paint, now }: Screen): string {
  const { execution_id, state, since, reasons, workers, nearest, queue } = why;
  const isOver = state === "COMPLETED" || state === "FAILED" || state === "CANCELLED";
  const isQueued = reasons.some(({ code }) => ASKS_WORKERS.has(code));
  const near = nearest.map(({ worker, failing }) => `${worker} lacks ${failing.join(", ")}`);
  return titled(paint, `${stateMark(state, paint)}  ${execution_id}`, [
    ["why", reasons.map(({ message }) => message).join("\n")],
    ["since", isOver ? undefined : sinceText(reasons, since, now)],
    [
      "workers",
      isQueued
        ? `${workers.connected} connected, ${workers.matching} matching, ${workers.free} free`
        : undefined,
    ],
    ["nearest", near.length > 0 ? near.join("\n") : undefined],
    ["ahead", queue.ahead > 0 ? `${queue.ahead} that need the same` : undefined],
  ]);
}

/** Answers of the gate, for which it has looked at workers. */
const ASKS_WORKERS: ReadonlySet<WhyReason["code"]> = new Set([
  "no_worker",
  "required_worker",
  "no_matching_worker",
  "workers_unavailable",
  "workers_full",
  "dispatching",
]);

function sinceText(reasons: readonly WhyReason[], changed: string, now: number): string {
  const since = reasons[0]?.since ?? changed;
  return `${ago(since, now)} (${since})`;
}
