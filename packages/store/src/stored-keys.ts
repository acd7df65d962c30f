import type { WrappedKey } from "./sealing/envelope.ts";

/** Where there is something under a key of the ring: data keys by their tables, and routing inputs. */
export type KeyHolder = "secrets" | "masks" | "execution_keys" | "schedules" | "routing";

/** A data key where it is stored. */
export interface StoredKeyPlace {
  readonly of: KeyHolder;
  readonly name: string;
  /**
   * Of a secret its version, of a schedule its id; empty of an execution, but of `routing`, which part
   * of it: `input`, or `terms` for needs that were made of that.
   */
  readonly version: number | string;
}

/** Of `routing` `wrapped` is no key but the text itself, which {@link resealAlike} seals anew. */
export interface StoredDataKey extends StoredKeyPlace, WrappedKey {}

/** One that is wrapped anew. */
export interface Rewrapped extends StoredDataKey {
  /** How it was wrapped before: whoever was faster is not written over. */
  readonly before: string;
}
