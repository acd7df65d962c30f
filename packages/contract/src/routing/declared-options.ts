/** The options that say where executions go and when, as a version's record holds them. */
import type { ExtractedWorkflow } from "../definitions/catalog.ts";
import { Affinity, FairnessDeclaration, LimitDeclaration, RoutingPolicy } from "./expression.ts";

/** Options of a workflow, checked before: what is none of these is as if it were not there. */
interface GivenOptions {
  readonly affinity?: unknown;
  readonly routing?: unknown;
  readonly limits?: unknown;
  readonly priority?: unknown;
  readonly fairness?: unknown;
}

export type DeclaredOptions = Pick<
  ExtractedWorkflow,
  "affinity" | "routing" | "limits" | "priority" | "fairness"
>;

export function declaredOptions(options: GivenOptions): DeclaredOptions {
  const { affinity, routing, limits, priority, fairness } = options;
  return {
    // Members that are undefined are no members of parsed data.
    affinity: (Affinity.safeParse(affinity).data ?? null) as DeclaredOptions["affinity"],
    routing: (RoutingPolicy.safeParse(routing).data ?? null) as DeclaredOptions["routing"],
    limits: LimitDeclaration.array().safeParse(limits).data ?? [],
    priority: typeof priority === "number" ? priority : null,
    fairness: FairnessDeclaration.safeParse(withWeight(fairness)).data ?? null,
  };
}

function withWeight(fairness: unknown): unknown {
  if (typeof fairness !== "object" || fairness === null) return fairness;
  const { weight = 1, ...rest } = fairness as { readonly weight?: unknown };
  return { ...rest, weight };
}

/**
 * One text for equal affinity and routing, in whichever order their members were written; null without
 * both. Its digest tells a worker whether its bundle is what was registered (EXE-69).
 */
export function placementText({
  affinity = null,
  routing = null,
}: {
  readonly affinity?: unknown;
  readonly routing?: unknown;
}): string | null {
  return affinity === null && routing === null
    ? null
    : JSON.stringify({ affinity, routing }, inOrder);
}

function inOrder(_key: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
