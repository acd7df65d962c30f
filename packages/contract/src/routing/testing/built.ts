import { buildComparison, buildRouting, type RoutingBuild, type RoutingBuilder } from "../build.ts";
import type { CompareOp, Selector, ValueRef } from "../expression.ts";

/** The builders of `@engine/sdk/routing`, with their members as functions. */
export function built(builder: RoutingBuilder, ...values: readonly unknown[]): never {
  return unlessRefused(buildRouting(builder, values));
}

export function compared(left: unknown, op: CompareOp, ...values: readonly unknown[]): never {
  const result = buildComparison(left, op, values);
  if (!result) throw new Error("nothing that compares");
  return unlessRefused(result);
}

export const label = (key: string): Selector => built("label", key);
export const meta = (key: string): Selector => built("meta", key);
export const input = (path: string): ValueRef => built("input", path);
export const routingInput = (path: string): ValueRef => built("routingInput", path);

function unlessRefused(result: RoutingBuild): never {
  if (result.issues) throw new Error(result.issues.map(({ message }) => message).join("; "));
  return result.value as never;
}
