import type { WrappedKey } from "./sealing/envelope.ts";

/** Where there are data keys, by their tables. */
export type KeyHolder = "secrets" | "masks" | "execution_keys" | "schedules";

/** A data key where it is stored. */
export interface StoredKeyPlace {
  readonly of: KeyHolder;
  readonly name: string;
  /** Of a secret its version, of a schedule its id; empty of an execution. */
  readonly version: number | string;
}

export interface StoredDataKey extends StoredKeyPlace, WrappedKey {}

/** One that is wrapped anew. */
export interface Rewrapped extends StoredDataKey {
  /** How it was wrapped before: whoever was faster is not written over. */
  readonly before: string;
}
