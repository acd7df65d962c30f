import {
  EngineError,
  type ExecutionRow,
  type PrincipalRef,
  type Rights,
  rightsOf,
} from "@engine/contract";
import type { EnginePorts } from "../engine-ports.ts";
import type { EpochWatch } from "./epoch-watch.ts";
import type { Identities } from "./identities.ts";

/** What says for whom an execution runs, and what. */
export type Acting = Pick<ExecutionRow, "run_as" | "namespace" | "workflow">;

/** A principal whose rights executions have, as it is now. */
export interface Account extends PrincipalRef {
  readonly id: string;
  /** A banned one is so whether or not it is disabled, too. */
  readonly state: "usable" | "disabled" | "banned";
  readonly roles: readonly string[];
  readonly grants: readonly string[];
  readonly rights: Rights;
}

/** How an execution's principal stands to it. */
export interface Standing {
  /** Whether the execution may go on: its principal can be used and may run the workflow (AUTH-36). */
  readonly isFree: boolean;
  /** Names of tasks that may be executed; `*` is all of them. */
  readonly task_grants: readonly string[];
  /** Whose rights it has; undefined with authorization off, and of one that is not free. */
  readonly account?: Account;
}

interface Parts {
  /** Whether authorization is on. */
  readonly isOn: boolean;
  readonly ports: Pick<EnginePorts, "config" | "monotonic">;
  readonly identities: Pick<Identities, "find">;
  readonly epochs: Pick<EpochWatch, "isCurrent" | "current" | "onChange">;
}

interface Known {
  /** Null: deleted, or never there. */
  readonly account: Account | null;
  readonly until: number;
}

const NO_TASKS: readonly string[] = Object.freeze([]);
const EVERY_TASK: readonly string[] = Object.freeze(["*"]);
const FREE: Standing = Object.freeze({ isFree: true, task_grants: EVERY_TASK });
const HELD: Standing = Object.freeze({ isFree: false, task_grants: NO_TASKS });

/** What is known serves at least so long, or a decision that waited for it could never be made. */
const LEAST_MS = 1_000;
/** Principals that are kept; beyond them all are asked for anew. */
const MOST = 10_000;

/** For whom executions run, and whether they may (AUTH-34, AUTH-36). */
export class RunAs {
  readonly isOn: boolean;
  readonly #parts: Parts;
  readonly #ttlMs: number;
  readonly #known = new Map<string, Known>();
  /** Standings that were made of an account, by workflow. */
  readonly #standings = new WeakMap<Account, Map<string, Standing>>();
  readonly #listeners: (() => void)[] = [];
  /** Counts the changes: what was asked before one is not kept after it. */
  #turn = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.isOn = parts.isOn;
    this.#ttlMs = Math.max(parts.ports.config.security.auth.cache_ttl * 1000, LEAST_MS);
    if (parts.isOn) parts.epochs.onChange("identity", () => this.#changed());
  }

  /** Calls back when principals may have got or lost rights; never with authorization off. */
  onChange(then: () => void): void {
    this.#listeners.push(then);
  }

  /** As it is now, without a question to the store; undefined where it takes one: {@link know}. */
  standing({ run_as, namespace, workflow }: Acting): Standing | undefined {
    if (!this.isOn) return FREE;
    if (run_as === null) return HELD;
    const known = this.#find(run_as);
    if (known === undefined) return undefined;
    const { account } = known;
    if (account?.state !== "usable") return HELD;
    const standings = this.#standings.get(account) ?? new Map<string, Standing>();
    this.#standings.set(account, standings);
    const key = `${namespace}:${workflow}`;
    const standing = standings.get(key) ?? this.#standingOf(account, key);
    standings.set(key, standing);
    return standing;
  }

  /**
   * Finds out how the principal stands, for {@link standing} to tell at once.
   *
   * @throws EngineError `unavailable` while the store does not say.
   */
  async know({ run_as }: Pick<Acting, "run_as">): Promise<void> {
    if (this.isOn && run_as !== null) await this.find(run_as);
  }

  /** Undefined for one that was deleted, or never was. @throws EngineError `unavailable`. */
  async find(id: string): Promise<Account | undefined> {
    const { identities, epochs, ports } = this.#parts;
    if (!(await epochs.current())) {
      throw new EngineError("unavailable", "it is not known who may do what; try again");
    }
    const known = this.#find(id);
    if (known) return known.account ?? undefined;
    const [turn, since] = [this.#turn, ports.monotonic()];
    const found = await identities.find(id);
    const account = found ? accountOf(found) : null;
    if (turn === this.#turn) {
      if (this.#known.size >= MOST) this.#known.clear();
      this.#known.set(id, { account, until: since + this.#ttlMs });
    }
    return account ?? undefined;
  }

  #find(id: string): Known | undefined {
    const { epochs, ports } = this.#parts;
    const known = epochs.isCurrent ? this.#known.get(id) : undefined;
    return known && ports.monotonic() < known.until ? known : undefined;
  }

  #standingOf(account: Account, workflow: string): Standing {
    const { rights } = account;
    if (!rights.holds(`workflow:${workflow}:run`)) return HELD;
    const { task_permissions } = this.#parts.ports.config.security.auth;
    const seen = rights.seenBy(`workflow:${workflow}:task:{task}:execute`);
    const isWhole = !task_permissions || seen.some(({ task }) => task === undefined);
    const names = new Set(seen.map(({ task = "" }) => task));
    return { isFree: true, task_grants: isWhole ? EVERY_TASK : [...names].sort(), account };
  }

  #changed(): void {
    this.#turn++;
    this.#known.clear();
    for (const then of this.#listeners) then();
  }
}

type Found = NonNullable<Awaited<ReturnType<Identities["find"]>>>;

function accountOf(found: Found): Account {
  const { id, subject, issuer, type, enabled, banned, roles, grants } = found;
  const state = banned ? "banned" : enabled ? "usable" : "disabled";
  return { id, subject, issuer, type, state, roles, grants, rights: rightsOf(grants) };
}
