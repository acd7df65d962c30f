/**
 * What the workflows of `author/counted.ts` and `author/bounded.ts` allow, said once more for those who
 * judge it.
 */
import type { ProgramInput, Where } from "./program.ts";

/** One of the limits that an execution is under. */
export interface Counts {
  /** Whoever has the same shares its places. */
  readonly bucket: string;
  /** Executions that have a place at a time; absent: as many as come, or as operators say. */
  readonly most?: number;
  /** A place is kept from the first claim to the end. */
  readonly isKept?: true;
  /** A start that would wait is refused. */
  readonly isStrict?: true;
  /** First claims in any such time. */
  readonly rate?: Rate;
  /** Under which operators say how many. */
  readonly name?: string;
}

export interface Rate {
  readonly count: number;
  readonly period_ms: number;
}

export const COUNTED_WORKFLOWS = ["counted_program", "seated_program"] as const;

/** By what is tried with them in a run: one of these. */
export const BOUNDED_WORKFLOWS: Readonly<Record<Bounds, readonly string[]>> = {
  keyed: ["keyed_program"],
  named: ["shared_program", "joint_program"],
  strict: ["strict_program"],
};

export type Bounds = "keyed" | "named" | "strict";

/** Names under which operators allow something. */
export const LIMIT_NAMES = ["crew", "desk"] as const;

/** Of a start of a workflow that refuses what would wait. */
export const STRICT: Counts = { bucket: "strict_program", most: 1, isStrict: true };

/** Empty: as many as come. Of what has no input any more only what reads none is known. */
export function countsOf(workflow: string, input: ProgramInput | undefined): readonly Counts[] {
  switch (workflow) {
    case "counted_program":
      return [{ bucket: workflow, most: 1, rate: { count: 2, period_ms: 5_000 } }];
    case "seated_program":
      return [{ bucket: workflow, most: 2, isKept: true }];
    case "shared_program":
      return [CREW];
    case "strict_program":
      return [STRICT];
    case "keyed_program":
      return input ? keyed(input.where) : [];
    case "joint_program":
      return input ? [CREW, desk(input.where)] : [CREW];
    default:
      return [];
  }
}

const CREW: Counts = { bucket: "crew", name: "crew" };

function desk({ zone }: Where = {}): Counts {
  return { bucket: `desk of zone ${zone}`, name: "desk" };
}

function keyed({ zone, hidden }: Where = {}): readonly Counts[] {
  return [
    { bucket: `keyed_program of zone ${zone}`, most: 1 },
    { bucket: `keyed_program of disk ${hidden?.disk}`, rate: { count: 1, period_ms: 5_000 } },
  ];
}
