/** Whose turn an execution is part of: the declaration of its version with its key read (FLW-6). */
import { engineFailure, type Failure } from "../errors/failure.ts";
import { FairnessDeclaration, type ValueRef } from "./expression.ts";
import { INVALID, type KeyInputs, keyValue } from "./key-value.ts";
import type { TurnShare } from "./needs.ts";

export type ResolvedFairness =
  | { readonly failure?: never; readonly share: TurnShare | undefined }
  | { readonly failure: Failure };

/**
 * Values of one key take turns whichever workflow reads them: executions of a tenant are one part, also
 * where two workflows have the tenant's name in different places. Those without a value share one part.
 */
export function resolveFairness(declared: unknown, of: KeyInputs): ResolvedFairness {
  const fairness = FairnessDeclaration.safeParse(declared).data;
  // One that a later server registered is none here: then the order is first come, first served.
  if (!fairness) return { share: undefined };
  const { key, weight } = fairness;
  const value = keyValue(key, of);
  if (value === INVALID) return { failure: invalidKey(key) };
  return { share: { key: JSON.stringify([key.kind, value ?? null]), weight } };
}

/** The paths of the input that the key reads. */
export function pathsOfFairness(declared: unknown): readonly string[] {
  const key = FairnessDeclaration.safeParse(declared).data?.key;
  return key?.kind === "input" ? [key.path] : [];
}

function invalidKey({ kind, path }: ValueRef): Failure {
  if (kind === "routing_input") {
    return engineFailure("AffinityResolutionError", "routing constraint unsatisfied");
  }
  const name = JSON.stringify(path);
  const message = `fairness needs input ${name} to be a text, a number or a boolean, and it is a list or an object`;
  const details = { term: `fairness.key: input(${name})`, input: path, reason: "invalid" };
  return engineFailure("AffinityResolutionError", message, { details });
}
