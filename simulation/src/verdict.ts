import { judge } from "./invariants/judge.ts";
import type { Violation } from "./invariants/violation.ts";
import type { Run } from "./simulate.ts";

/** What a run broke; nothing when all went as it must. */
export async function verdictOn({ evidence, problems }: Run): Promise<readonly Violation[]> {
  const unhandled = problems.map(
    (message): Violation => ({ invariant: "output", execution_id: null, message }),
  );
  return [...unhandled, ...(await judge(evidence))];
}
