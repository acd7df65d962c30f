import type { Claimant } from "@engine/contract";
import type { AnyWorkflow } from "@engine/sdk";
import type { EmbeddedLimits, ExecutionPort, Host } from "@engine/sdk/node";
import type { ExecutionSeals, KeyRing, Store, ValueStore } from "@engine/store";

/** The settings of `[engine.executions]` that a local run keeps to; `inline_wait` means nothing here. */
export type LocalLimits = EmbeddedLimits;

/** Where secrets and configs come from. */
export type LocalSettings = Pick<ExecutionPort["services"], "secrets" | "configs">;

/** What a local engine is made of; what is left out has a default. */
export interface LocalParts {
  readonly store: Store;
  /** Where values go that are too large for the log. */
  readonly values: ValueStore;
  readonly limits: LocalLimits;
  /** With what is encrypted; without one no sensitive task can run. */
  readonly ring?: KeyRing | undefined;
  /** By default none exist. */
  readonly settings?: LocalSettings;
  /** Paths of local sockets by name: nobody but this process grants them, and it does. */
  readonly services?: Readonly<Record<string, string>>;
  readonly host?: Host;
  /** Milliseconds since 1970; the host's clock unless given. */
  readonly clock?: () => number;
  readonly newId?: () => string;
  /** 128 random bits as hexadecimal text. */
  readonly newSeed?: () => string;
  /** Targets of `call` by qualified name, beside those that were run before. */
  readonly findWorkflow?: (qualifiedName: string) => AnyWorkflow | undefined;
}

/** The parts with everything that has a default. */
export interface LocalWorld extends Required<LocalParts> {
  /** Id of this process among all that ever wrote to the database. */
  readonly session: string;
  readonly seals: ExecutionSeals;
}

/** Who a local run is when it takes an execution: `worker` of its WORKFLOW_CLAIMED (EXE-13). */
export function localClaimant({ session, clock }: Pick<LocalWorld, "session" | "clock">): Claimant {
  return { worker: "local", session, now: clock() };
}
