import type { Wait } from "@engine/contract";
import { elapsed } from "./elapsed.ts";

/** One thing that an execution waits for, with the instant at which the engine ends it itself. */
export function waitText(wait: Wait, now: number): string {
  const { until } = wait;
  if (until === undefined) return subject(wait);
  // Of these two the end is all there is to say.
  const joint = wait.kind === "sleep" || wait.kind === "retry" ? "" : ",";
  return `${subject(wait)}${joint} until ${until} (${ahead(until, now)})`;
}

/** The same in the width of a list: instants relative to now. */
export function waitBrief(wait: Wait, now: number, length: typeof elapsed = elapsed): string {
  const { until } = wait;
  return until === undefined ? subject(wait) : `${subject(wait)} (${ahead(until, now, length)})`;
}

function subject({ kind, name, execution_id }: Wait): string {
  switch (kind) {
    case "sleep":
      return "sleep";
    case "retry":
      return `retry of ${name}`;
    case "child":
      return execution_id === undefined ? `child ${name}` : `child ${name} ${execution_id}`;
    case "pause":
      return execution_id === undefined
        ? `pause ${name}`
        : `pause ${name}, or the end of ${execution_id}`;
    case "approval":
    case "signal":
      return `${kind} ${name}`;
  }
}

function ahead(until: string, now: number, length: typeof elapsed = elapsed): string {
  const ms = Date.parse(until) - now;
  return ms <= 0 ? "due now" : `in ${length(ms)}`;
}
