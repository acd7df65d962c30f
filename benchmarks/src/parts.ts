import type { Bench, Report } from "./measure.ts";

export type MeasuredPart = (bench: Bench) => Promise<Report>;

/** One part of a measure after another, each with engines of its own, as one report. */
export async function reportOf(parts: readonly MeasuredPart[], bench: Bench): Promise<Report> {
  const reports: Report[] = [];
  for (const part of parts) reports.push(await part(bench));
  return {
    tables: reports.flatMap(({ tables }) => tables),
    figures: Object.assign({}, ...reports.map(({ figures }) => figures)),
    samples: Object.assign({}, ...reports.map(({ samples }) => samples)),
  };
}
