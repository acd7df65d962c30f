import { type Finding, type Judgement, judge } from "./invariants/judge.ts";
import type { Run } from "./simulate.ts";

/** What a run broke, which is nothing when all went as it must, and what was let pass in it. */
export async function verdictOn({ evidence, problems }: Run): Promise<Judgement> {
  const unhandled = problems.map(
    (message): Finding => ({
      judge: "unhandled",
      invariant: "output",
      execution_id: null,
      message,
    }),
  );
  const { findings, excused } = await judge(evidence);
  return { findings: [...unhandled, ...findings], excused };
}
