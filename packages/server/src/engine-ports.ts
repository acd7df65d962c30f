import type { Config } from "@engine/contract";
import type { Store } from "@engine/store";
import type { Log } from "./log.ts";

/** Calls back once after that many milliseconds; the answer cancels. */
export type SetTimer = (run: () => void, ms: number) => () => void;

/** Everything the engine needs of the world around it. */
export interface EnginePorts {
  readonly store: Store;
  readonly config: Config;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** A fresh UUIDv7. */
  readonly ids: () => string;
  /** A fresh secret of 32 random bytes, as base64url. */
  readonly token: () => string;
  readonly setTimer: SetTimer;
  readonly log: Log;
}
