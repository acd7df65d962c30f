import { EXCUSES, type ExcuseName } from "./invariants/excuses.ts";

/** In fewer of them that one was not needed says nothing. */
const MANY_RUNS = 1_000;

/** What each run has let pass, and how often. */
type Excused = Iterable<readonly [ExcuseName, number]>;

/** How often judges let something pass, as lines of text: those that never came to be needed last. */
export function excuseReport(runs: readonly Excused[]): string {
  const counts = new Map<ExcuseName, { times: number; runs: number }>();
  for (const run of runs) {
    for (const [name, times] of run) {
      const before = counts.get(name) ?? { times: 0, runs: 0 };
      counts.set(name, { times: before.times + times, runs: before.runs + 1 });
    }
  }
  const names = Object.keys(EXCUSES) as ExcuseName[];
  const taken = names
    .filter((name) => counts.has(name))
    .sort((a, b) => (counts.get(b)?.runs ?? 0) - (counts.get(a)?.runs ?? 0))
    .map((name) => {
      const { times, runs: of } = counts.get(name) ?? { times: 0, runs: 0 };
      return `  ${times} times in ${of} runs  ${EXCUSES[name].judge}: ${name}`;
    });
  const never = runs.length < MANY_RUNS ? [] : names.filter((name) => !counts.has(name));
  return [
    `Let pass in ${runs.length} runs:`,
    ...taken,
    ...(never.length > 0 ? [`  never  ${never.join(", ")}`] : []),
    "",
  ].join("\n");
}
