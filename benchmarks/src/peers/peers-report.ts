import type { Report } from "../measure.ts";
import { median } from "../stats.ts";
import { count, ms, type Table } from "../table.ts";
import type { Contestant } from "./contestant.ts";
import type { Round } from "./round.ts";

const COLUMNS: readonly (readonly [figure: string, title: string, show: (n: number) => string])[] =
  [
    ["3_tasks_p50_ms", "3 tasks p50", ms],
    ["3_tasks_p99_ms", "p99", ms],
    ["workflows_per_second_at_200", "workflows/s at 200", count],
    ["100_tasks_p50_ms", "100 tasks p50", ms],
    ["start_p50_ms", "enqueue to start p50", ms],
    ["start_p99_ms", "p99", ms],
  ];

/**
 * Of every figure the median over the rounds.
 *
 * @param busy One more round of each beside a process that computes all the time.
 */
export function peersReport(
  rounds: ReadonlyMap<Contestant, readonly Round[]>,
  busy: ReadonlyMap<Contestant, Round>,
): Report {
  const figures: Record<string, number> = {};
  const samples: Record<string, readonly number[]> = {};
  const rows: string[][] = [];
  const conditions: string[][] = [];
  for (const [{ key, label }, taken] of rounds) {
    const row = COLUMNS.map(([figure, , show]) => {
      const values = taken.flatMap((round) => round.figures[figure] ?? []);
      if (values.length === 0) return "";
      figures[`${key}_${figure}`] = median(values);
      samples[`${key}/${figure}_by_round`] = values;
      return show(median(values));
    });
    rows.push([label, ...row]);
    taken.forEach((round, i) => {
      for (const [name, values] of Object.entries(round.samples)) {
        samples[`${key}/${i + 1}/${name}`] = values;
      }
    });
    const [first] = taken;
    if (!first) continue;
    const { version, store, durability, shape } = first.about;
    conditions.push([label, version, store, durability, shape]);
  }
  const tables: Table[] = [
    { title: title(rounds), columns: ["", ...COLUMNS.map(([, heading]) => heading)], rows },
    {
      title: "One run beside a process that computes all the time; × is to the median above",
      columns: ["", ...COLUMNS.map(([, heading]) => heading)],
      rows: [...rounds.keys()].flatMap((contestant) => {
        const { key, label } = contestant;
        const round = busy.get(contestant);
        if (!round) return [];
        const row = COLUMNS.map(([figure, , show]) => {
          const [alone, beside] = [figures[`${key}_${figure}`], round.figures[figure]];
          if (alone === undefined || beside === undefined) return "";
          figures[`${key}_busy_${figure}`] = beside;
          return `${show(beside)} (×${(beside / alone).toFixed(2)})`;
        });
        return [[label, ...row]];
      }),
    },
    {
      title: "What each of them is",
      columns: ["", "version", "store", "durability", "shape"],
      rows: conditions,
    },
  ];
  return { tables, figures, samples };
}

function title(rounds: ReadonlyMap<Contestant, readonly Round[]>): string {
  const [some = []] = rounds.values();
  return `Side by side, by turns; medians of ${some.length} ${some.length === 1 ? "run" : "runs"} each`;
}
