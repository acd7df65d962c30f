import type { Failure } from "@engine/contract";
import { toFailure } from "../endings/failure.ts";
import type { Scope } from "./call.ts";

/** How one branch ended, with `settle: true`. */
export type Settled<Value> =
  | { status: "fulfilled"; value: Value }
  | { status: "rejected"; failure: Failure };

export interface BranchRules {
  /** Branches at a time; default all. */
  readonly limit?: number | undefined;
  /** No failure rejects; each result says how its branch ended. */
  readonly settle?: boolean | undefined;
}

/** Runs branches inside a scope; rejects with the first failure. */
export function branches(
  scope: Scope,
  functions: readonly (() => unknown)[],
  { limit = Number.POSITIVE_INFINITY, settle = false }: BranchRules = {},
): Promise<unknown[]> {
  const results: unknown[] = new Array(functions.length);
  return new Promise((resolve, reject) => {
    let next = 0;
    let running = 0;
    let isOver = false;
    const launch = () => {
      if (isOver) return;
      if (running === 0 && next === functions.length) resolve(results);
      while (running < limit && next < functions.length && !isOver) start(next++);
    };
    const start = (index: number) => {
      running++;
      const branch = async () => functions[index]?.();
      scope.runtime.inScope(scope, branch).then(
        (value) => end(index, settle ? { status: "fulfilled", value } : value),
        (error: unknown) => {
          if (settle) return end(index, { status: "rejected", failure: toFailure(error) });
          isOver = true;
          reject(error);
        },
      );
    };
    const end = (index: number, result: unknown) => {
      results[index] = result;
      running--;
      launch();
    };
    launch();
  });
}
