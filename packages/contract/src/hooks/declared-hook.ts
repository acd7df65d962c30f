import * as z from "zod";
import type { Sha256 } from "./hook-ids.ts";

/** A hook as a version's record holds what its workflow declares (HOOK-47). */
export const DeclaredHook = z.object({
  /** As it was given, or as it follows from the others. */
  name: z.string(),
  /** Whole ones, each once, in the order in which they were written. */
  selectors: z.array(z.string()),
  /** What it runs: `<namespace>/<name>`. */
  workflow: z.string(),
  /** Subject of the service account that runs it. */
  principal: z.string(),
  /** Tries of a delivery that fail before it is dead. */
  max_attempts: z.int(),
});
export type DeclaredHook = z.infer<typeof DeclaredHook>;

const LONGEST_NAME = 128;
const DIGEST = 12;

/**
 * The name of a declared hook that was given none. It says whose the hook is, and in whichever order
 * declarations and selectors are written it is the same (HOOK-49).
 *
 * @param owner `<namespace>/<name>` of the workflow.
 */
export function derivedHookName(
  owner: string,
  { selectors, workflow, principal }: Omit<DeclaredHook, "name" | "max_attempts">,
  sha256: Sha256,
): string {
  const digest = sha256(JSON.stringify([selectors.toSorted(), workflow, principal]));
  const plain = `wf-${owner.toLowerCase().replace(/[^a-z0-9_-]/g, "-")}`;
  return `${plain.slice(0, LONGEST_NAME - DIGEST - 1)}-${digest.slice(0, DIGEST)}`;
}
