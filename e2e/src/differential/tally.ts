import type { Violation } from "./evidence.ts";
import type { Judged } from "./stretch.ts";

export interface Failed {
  readonly n: number;
  readonly violations: readonly Violation[];
}

/** What a run has come to so far. */
export class Tally {
  programs = 0;
  executions = 0;
  forks = 0;
  cancelled = 0;
  entries = 0;
  /** Of workers. */
  deaths = 0;
  readonly failed: Failed[] = [];

  add({ plan, evidence, violations, isAgain }: Judged): void {
    if (violations.length > 0) this.failed.push({ n: plan.n, violations });
    if (isAgain) return;
    this.programs++;
    this.executions += evidence.executions.length;
    this.entries += evidence.entries.length;
    for (const { history } of evidence.executions) {
      if (history.execution.state === "CANCELLED") this.cancelled++;
      if (history.events[0]?.meta?.["forked_from"]) this.forks++;
    }
  }

  lines(seconds: number): readonly string[] {
    const { programs, executions, forks, cancelled, entries, deaths, failed } = this;
    const each = failed.flatMap(({ n, violations }) =>
      [...new Set(violations.map(({ judge }) => judge))].map((judge) => ({ judge, n })),
    );
    const byJudge = [...Map.groupBy(each, ({ judge }) => judge)].map(([judge, own]) => {
      const some = own.slice(0, 10).map(({ n }) => n);
      return `  ${judge}: ${own.length} programs (${some.join(", ")}${own.length > 10 ? ", …" : ""})`;
    });
    return [
      `${programs} programs in ${seconds.toFixed(0)} s (${(programs / seconds).toFixed(1)}/s): ${executions} executions, of them ${forks} forks and ${cancelled} cancelled; ${entries} functions entered, ${deaths} workers killed; ${failed.length} programs failed`,
      ...byJudge,
    ];
  }
}
