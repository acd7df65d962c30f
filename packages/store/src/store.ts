import type { Outbox } from "./hooks/outbox.ts";
import type { Kinds } from "./ports/port.ts";
import type { Ports } from "./ports.ts";

/**
 * Every durable fact, by domain. Writes are committed in groups: a promise settles after the commit
 * that holds its change, so acknowledging it is safe; a commit that fails rejects all its writes with
 * `unavailable`. Reads see every settled write. One conformance suite (`@engine/store/conformance`)
 * holds every implementation to this interface.
 */
export interface Store extends Ports {
  readonly kind: "sqlite" | "postgres";
  /** How events become deliveries of hooks. */
  readonly outbox: Outbox;

  /** Rejects when the database does not answer. */
  ping(): Promise<void>;
  /** Rejects `unavailable` while nothing can be written; costs at most one small commit. */
  assertWritable(): Promise<void>;
  /** Statements sent since opening; the idle test counts them. */
  statementCount(): number;
  /** Commits what was asked for before; every later call rejects with `unavailable`. */
  close(): Promise<void>;
}

type OwnMethods = Omit<Store, keyof Ports | "kind" | "outbox">;

/** How what belongs to no domain is asked. */
export const OWN_METHODS: Kinds<OwnMethods> = {
  ping: "read",
  assertWritable: "read",
  statementCount: "itself",
  close: "itself",
};

/** A method by its name: `schedules.create`, or `ping`. */
export type StoreMethod =
  | { [Port in keyof Ports]: `${Port}.${keyof Ports[Port] & string}` }[keyof Ports]
  | keyof OwnMethods;
