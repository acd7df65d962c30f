import type { ProgressItem } from "@engine/contract";

/**
 * Takes out of progress values what no reader may see. Called on each server, in order, with the values
 * that its readers are about to get. A value may be changed, or held back until more of its call came.
 */
export type RedactProgress = (
  items: readonly ProgressItem[],
  of: { readonly execution_id: string },
) => readonly ProgressItem[];
