import { EngineError } from "@engine/contract";

/**
 * Registers files one after the other. What a hook of one runs may be in a file that comes later: a file
 * that is early is registered again behind the others, as long as any of those came through.
 *
 * @returns Each file's outcome, in the order in which they were settled.
 */
export async function inTurn<Outcome>(
  paths: readonly string[],
  register: (path: string) => Promise<Outcome>,
  isEarly: (outcome: Outcome) => boolean,
): Promise<readonly Outcome[]> {
  const settled: Outcome[] = [];
  let left = paths;
  while (left.length > 0) {
    const early: { readonly path: string; readonly outcome: Outcome }[] = [];
    for (const path of left) {
      const outcome = await register(path);
      if (isEarly(outcome)) early.push({ path, outcome });
      else settled.push(outcome);
    }
    if (early.length === left.length) return [...settled, ...early.map(({ outcome }) => outcome)];
    left = early.map(({ path }) => path);
  }
  return settled;
}

/** Whether a file was refused since what a hook of it runs is not registered yet (HOOK-50). */
export function isTargetMissing(error: unknown): error is EngineError {
  return error instanceof EngineError && error.code === "target_not_found";
}
