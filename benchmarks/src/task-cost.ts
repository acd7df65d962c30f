import { slope } from "./stats.ts";
import type { Table } from "./table.ts";

export interface TimeOfTasks {
  readonly tasks: number;
  readonly ms: number;
}

/**
 * What one more recorded task adds to a replay: by a line fitted through all sizes, and from each
 * size to the next. Where those agree the time is linear in the length of the log.
 */
export function costPerTask(times: readonly TimeOfTasks[]): {
  readonly table: Table;
  readonly figures: Readonly<Record<string, number>>;
} {
  const fit = slope(times.map(({ tasks, ms }) => [tasks, ms]));
  const rows = [["fitted through all", micro(fit)]];
  const steps: number[] = [];
  times.slice(1).forEach((to, i) => {
    const from = times[i] ?? to;
    const step = (to.ms - from.ms) / (to.tasks - from.tasks);
    steps.push(step);
    rows.push([`from ${from.tasks} to ${to.tasks} tasks`, micro(step)]);
  });
  // 1 where the last stretch costs per task what the first one does.
  const bend = (steps.at(-1) ?? 0) / (steps[0] ?? 1);
  rows.push(["last stretch / first stretch", bend.toFixed(2)]);
  return {
    table: { title: "Cost of one more recorded task", columns: ["medians", "per task"], rows },
    figures: { per_task_ms: fit, last_to_first_stretch: bend },
  };
}

function micro(milliseconds: number): string {
  return `${milliseconds.toFixed(4)} ms`;
}
