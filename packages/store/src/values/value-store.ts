import type { StoredReference } from "@engine/contract";

/**
 * Values that are too large for the log, as the text the log would hold (EXE-49). They go with the
 * execution that made them. Trouble of the storage itself rejects with `unavailable`.
 */
export interface ValueStore {
  /** Settles when the value is durable. The same text again gives the same reference. */
  save(execution_id: string, text: string): Promise<StoredReference>;
  /** Rejects `not_found` when the value is gone, or is not what was saved. */
  load(reference_id: string): Promise<string>;
  /** Does nothing when the execution has no values. */
  deleteAll(execution_id: string): Promise<void>;
}
