import type { Config } from "@engine/contract";
import type { ReadRegistration } from "@engine/sources";
import type { ExecutionSeals, KeyRing, Store, ValueStore } from "@engine/store";
import type { TokenKeys } from "./auth/execution-token.ts";
import type { AuthorizeCall } from "./children/authorize-call.ts";
import type { Log } from "./log.ts";
import type { AuthorizeSchedule } from "./schedules/authorize-schedule.ts";

/** Calls back once after that many milliseconds of `monotonic`, never before; the answer cancels. */
export type SetTimer = (run: () => void, ms: number) => () => void;

/** Everything the engine needs of the world around it. */
export interface EnginePorts {
  readonly store: Store;
  /** For values that are too large for the log. */
  readonly values: ValueStore;
  readonly config: Config;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** Milliseconds of a clock that only counts up: nobody sets it. */
  readonly monotonic: () => number;
  /** A fresh UUIDv7. */
  readonly ids: () => string;
  /** A fresh secret of 32 random bytes, as base64url. */
  readonly token: () => string;
  /** A number from 0 to below 1. */
  readonly random: () => number;
  /** Names this server among those on the same database; another one each time it starts. */
  readonly replica: string;
  /** Random text for the generator behind `Math.random` in a fresh execution's body. */
  readonly seed: () => string;
  /** In a process of its own when absent. */
  readonly readRegistration?: ReadRegistration;
  /** With what is encrypted; without one nothing secret can be kept (SEC-1). */
  readonly ring?: KeyRing | undefined;
  /** With what execution tokens are signed; there are none when absent, or with authorization off. */
  readonly tokenKeys?: TokenKeys;
  /** By the rights of the caller's principal when absent (AUTH-34). */
  readonly authorizeCall?: AuthorizeCall | undefined;
  /** Accounts of schedules are stored as given and not looked at when absent. */
  readonly authorizeSchedule?: AuthorizeSchedule;
  readonly setTimer: SetTimer;
  readonly log: Log;
}

/** The same with what the engine makes of them, once for all its parts. */
export interface InnerPorts extends EnginePorts {
  readonly seals: ExecutionSeals;
}
