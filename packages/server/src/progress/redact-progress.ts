import type { ProgressItem } from "@engine/contract";

/**
 * What of progress values may be seen, whoever watches: called on each server with what its readers
 * are about to get, in order. A value may be changed, or held back until more of its call has come.
 */
export type RedactProgress = (
  items: readonly ProgressItem[],
  of: { readonly execution_id: string },
) => readonly ProgressItem[];
