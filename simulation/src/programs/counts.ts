/** What the workflows of `author/counted.ts` allow, said once more for those who judge it. */
export interface Counts {
  /** Executions that have a place at a time. */
  readonly most: number;
  /** A place is kept from the first claim to the end. */
  readonly isKept: boolean;
  /** First claims in any such time. */
  readonly rate?: { readonly count: number; readonly period_ms: number };
}

export const COUNTED_WORKFLOWS = ["counted_program", "seated_program"] as const;

const COUNTS: Readonly<Record<(typeof COUNTED_WORKFLOWS)[number], Counts>> = {
  counted_program: { most: 1, isKept: false, rate: { count: 2, period_ms: 5_000 } },
  seated_program: { most: 2, isKept: true },
};

/** Undefined: as many as come. */
export function countsOf(workflow: string): Counts | undefined {
  return (COUNTS as Readonly<Record<string, Counts>>)[workflow];
}
