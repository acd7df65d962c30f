import type { Violation } from "./invariants/violation.ts";
import { everything, keepText, planKept } from "./kept.ts";
import type { LoadedPrograms } from "./load-programs.ts";
import type { Plan } from "./plan.ts";
import { shrink } from "./shrink.ts";
import { type Run, simulate } from "./simulate.ts";
import { verdictOn } from "./verdict.ts";

interface ReportOptions {
  readonly programs: LoadedPrograms;
  readonly plant: string | undefined;
  /** Shows the plan as it is, whether or not it breaks something; otherwise the least of it. */
  readonly isWhole: boolean;
}

/** Why a run failed, how to see it again, and everything that happened in it. */
export async function failureReport(
  plan: Plan,
  { programs, plant, isWhole }: ReportOptions,
): Promise<{ readonly text: string; readonly isBroken: boolean }> {
  const tryOut = async (tried: Plan, isTraced: boolean) => {
    const run = await simulate(tried, { programs, plant, isTraced });
    return { run, violations: await verdictOn(run) };
  };
  let [shown, keep] = [plan, ""];
  if (!isWhole) {
    const { violations } = await tryOut(plan, false);
    const broken = new Set(violations.map(({ invariant }) => invariant));
    const kept = await shrink(plan, async (smaller) => {
      const tried = await tryOut(planKept(plan, smaller), false);
      return tried.violations.some(({ invariant }) => broken.has(invariant));
    });
    shown = planKept(plan, kept);
    keep = keepText(kept) === keepText(everything(plan)) ? "" : ` --keep ${keepText(kept)}`;
  }
  const { run, violations } = await tryOut(shown, true);
  const planted = plant === undefined ? "" : ` --plant ${plant}`;
  const lines = [
    ...run.trace,
    "",
    ...violations.map((violation) => sentence(violation, run)),
    ...(violations.length === 0 ? [`seed ${plan.seed}: nothing is broken`] : []),
    "",
    `Again: npm run simulate -- --seed ${plan.seed}${keep}${planted}`,
    "",
  ];
  return { text: lines.join("\n"), isBroken: violations.length > 0 };
}

function sentence({ invariant, execution_id, message }: Violation, { names }: Run): string {
  const of = execution_id === null ? "" : ` ${names(execution_id)} (${execution_id})`;
  return `${invariant}${of}: ${message}`;
}
