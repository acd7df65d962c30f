/** What became of one failpoint. */
export interface Swept {
  readonly failpoint: string;
  /** Where a second kill was to follow. */
  readonly second?: string | undefined;
  readonly isStruck: boolean;
  readonly isStruckAgain: boolean;
  /** Of the workload that it was part of. */
  readonly violations: readonly string[];
}

/** @param struck The failpoints of one workload at which processes died, in order. */
export function sweptAt(
  { failpoint, second }: Pick<Swept, "failpoint" | "second">,
  struck: readonly string[],
  violations: readonly string[],
): Swept {
  const at = struck.indexOf(failpoint);
  const isStruckAgain = second !== undefined && at >= 0 && struck.indexOf(second, at + 1) > 0;
  return { failpoint, second, isStruck: at >= 0, isStruckAgain, violations };
}

export function tellSwept(say: (line: string) => void, all: readonly Swept[]): void {
  for (const { failpoint, second, isStruckAgain, violations } of all) {
    const missed = isStruckAgain ? "" : " (not reached)";
    const again = second === undefined ? "" : `, then ${second}${missed}`;
    say(`${violations.length === 0 ? "ok  " : "FAIL"} ${failpoint}${again}`);
  }
  for (const violation of new Set(all.flatMap(({ violations }) => violations))) say(violation);
}
