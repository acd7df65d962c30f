import type { Finding } from "./invariants/judge.ts";
import { everything, keepText, planKept } from "./kept.ts";
import type { LoadedPrograms } from "./load-programs.ts";
import type { Plan } from "./plan.ts";
import { shrink } from "./shrink.ts";
import { type Run, simulate } from "./simulate.ts";
import type { StoreSource } from "./store/store-source.ts";
import { verdictOn } from "./verdict.ts";

interface ReportOptions {
  readonly programs: LoadedPrograms;
  readonly source: StoreSource;
  readonly plant: string | undefined;
  /** Shows the plan as it is, whether or not it breaks something; otherwise the least of it. */
  readonly isWhole: boolean;
}

/** Why a run failed, how to see it again, and everything that happened in it. */
export async function failureReport(
  plan: Plan,
  { programs, source, plant, isWhole }: ReportOptions,
): Promise<{ readonly text: string; readonly isBroken: boolean }> {
  const tryOut = async (tried: Plan, isTraced: boolean) => {
    const run = await simulate(tried, { programs, source, plant, isTraced });
    const { findings } = await verdictOn(run);
    return { run, findings };
  };
  let [shown, keep] = [plan, ""];
  if (!isWhole) {
    const { findings } = await tryOut(plan, false);
    const broken = new Set(findings.map(({ judge }) => judge));
    const kept = await shrink(plan, async (smaller) => {
      const tried = await tryOut(planKept(plan, smaller), false);
      return tried.findings.some(({ judge }) => broken.has(judge));
    });
    shown = planKept(plan, kept);
    keep = keepText(kept) === keepText(everything(plan)) ? "" : ` --keep ${keepText(kept)}`;
  }
  const { run, findings } = await tryOut(shown, true);
  const stored = source.kind === "sqlite" ? "" : ` --store ${source.kind}`;
  const planted = plant === undefined ? "" : ` --plant ${plant}`;
  const lines = [
    ...run.trace,
    "",
    ...findings.map((finding) => sentence(finding, run)),
    ...(findings.length === 0 ? [`seed ${plan.seed}: nothing is broken`] : []),
    "",
    `Again: npm run simulate -- --seed ${plan.seed}${keep}${stored}${planted}`,
    "",
  ];
  return { text: lines.join("\n"), isBroken: findings.length > 0 };
}

function sentence({ judge, invariant, execution_id, message }: Finding, { names }: Run): string {
  const of = execution_id === null ? "" : ` ${names(execution_id)} (${execution_id})`;
  return `${invariant} (${judge})${of}: ${message}`;
}
