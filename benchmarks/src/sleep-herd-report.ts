import type { Herd } from "./herd-run.ts";
import type { Report } from "./measure.ts";
import { median, percentile } from "./stats.ts";
import { count, ms, type Table } from "./table.ts";

export interface Herds {
  /** Milliseconds. */
  readonly spread: number;
  readonly spreadOut: Herd;
  readonly atOnce: Herd;
}

export function herdReport({ spread, spreadOut, atOnce }: Herds): Report {
  const [a, b] = [times(spreadOut), times(atOnce)];
  const size = count(a.late.length);
  const all = "all due at one instant";
  return {
    tables: [
      lateness(`${size} sleeping executions, from the due instant to the recorded wake`, [
        [`due over ${spread / 1000} s`, a.late],
        [all, b.late],
      ]),
      lateness("The same to the recorded end of the workflow", [
        [`due over ${spread / 1000} s`, a.ended],
        [all, b.ended],
      ]),
      {
        title: "While they slept",
        columns: ["", "fell asleep in", "on a worker", "held by the server, each", "RSS, each"],
        rows: [cost(`due over ${spread / 1000} s`, spreadOut), cost(all, atOnce)],
      },
    ],
    figures: {
      spread_p50_ms: median(a.late),
      spread_p99_ms: percentile(a.late, 99),
      spread_max_ms: percentile(a.late, 100),
      at_once_last_ms: percentile(b.late, 100),
      at_once_last_ended_ms: percentile(b.ended, 100),
      held_bytes_each: Math.max(spreadOut.held, atOnce.held),
      resident_bytes_each: Math.max(spreadOut.resident, atOnce.resident),
      on_workers: Math.max(spreadOut.onWorkers, atOnce.onWorkers),
    },
    samples: { spread_late_ms: a.late, at_once_late_ms: b.late },
  };
}

function times({ wakes }: Herd) {
  return { late: wakes.map(({ late }) => late), ended: wakes.map(({ ended }) => ended) };
}

function lateness(title: string, herds: readonly [string, readonly number[]][]): Table {
  const rows = herds.map(([label, taken]) => {
    const figures = [0, 50, 99, 100].map((p) => ms(percentile(taken, p)));
    return [label, ...figures];
  });
  return { title, columns: ["", "first", "p50", "p99", "last"], rows };
}

function cost(label: string, herd: Herd): string[] {
  const bytes = [herd.held, herd.resident].map((each) => `${count(each)} B`);
  return [label, ms(herd.fellAsleep), count(herd.onWorkers), ...bytes];
}
