import type { Plan, Rates } from "./plan.ts";

/** What is left of a plan: numbers of its disturbances, operations and hooks, kinds of its rates. */
export interface Kept {
  readonly rates: readonly string[];
  readonly disturbances: readonly number[];
  readonly operations: readonly number[];
  /** Of what is done to hooks. */
  readonly hooks: readonly number[];
  /** Faults end then. */
  readonly stretch?: number | undefined;
}

/** All of it. */
export function everything(plan: Plan): Kept {
  const rates = Object.entries(plan.rates).filter(([, rate]) => rate > 0);
  return {
    rates: rates.map(([kind]) => kind),
    disturbances: plan.disturbances.map((_, i) => i),
    operations: plan.operations.map((_, i) => i),
    hooks: plan.hooks.map((_, i) => i),
  };
}

export function planKept(plan: Plan, kept: Kept): Plan {
  const { disturbances, operations, hooks, stretch } = kept;
  const rates = Object.entries(plan.rates).map(([kind, rate]) => [
    kind,
    kept.rates.includes(kind) ? rate : 0,
  ]);
  return {
    ...plan,
    stretch: stretch ?? plan.stretch,
    rates: Object.fromEntries(rates) as Rates,
    disturbances: plan.disturbances.filter((_, i) => disturbances.includes(i)),
    operations: plan.operations.filter((_, i) => operations.includes(i)),
    hooks: plan.hooks.filter((_, i) => hooks.includes(i)),
  };
}

/** As `--keep` takes it. */
export function keepText({ rates, disturbances, operations, hooks, stretch }: Kept): string {
  const parts = [`rates=${rates.join("+")}`, `disturbances=${disturbances.join("+")}`];
  parts.push(`operations=${operations.join("+")}`);
  if (hooks.length > 0) parts.push(`hooks=${hooks.join("+")}`);
  if (stretch !== undefined) parts.push(`stretch=${stretch}`);
  return parts.join(",");
}

export function keptOf(text: string): Kept {
  const given = new Map(text.split(",").map((part) => part.split("=") as [string, string]));
  const words = (key: string) => (given.get(key) ?? "").split("+").filter((word) => word !== "");
  const stretch = given.get("stretch");
  return {
    rates: words("rates"),
    disturbances: words("disturbances").map(Number),
    operations: words("operations").map(Number),
    hooks: words("hooks").map(Number),
    stretch: stretch === undefined ? undefined : Number(stretch),
  };
}
