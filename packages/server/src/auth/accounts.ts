import {
  ENGINE_ISSUER,
  EngineError,
  type ErrorCode,
  rightsOf,
  type ScheduleRow,
} from "@engine/contract";
import type { StoredIdentity } from "@engine/store";
import type { EnginePorts } from "../engine-ports.ts";
import type { RunLists } from "./run-lists.ts";

interface Parts {
  readonly ports: Pick<EnginePorts, "store">;
  readonly runLists: Pick<RunLists, "ofName">;
  /** Whether authorization is on: else accounts are stored as given (AUTH-2). */
  readonly areChecked: boolean;
}

type Target = Pick<ScheduleRow, "namespace" | "workflow" | "version">;

/** Service accounts that executions run as while nobody is there (AUTH-45 to AUTH-48). */
export class Accounts {
  readonly #parts: Parts;

  readonly areChecked: boolean;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.areChecked = parts.areChecked;
  }

  /**
   * The account, if it may run the workflow: as the store has both now, since it is asked again at each
   * fire (AUTH-48).
   *
   * @returns Id of the principal.
   * @throws EngineError `principal_not_found`, `principal_not_service_account`, `principal_banned`,
   * `principal_disabled`; `principal_not_permitted` with all that it lacks.
   */
  async permitted(
    subject: string | null,
    { namespace, workflow, version }: Target,
  ): Promise<string> {
    const account = await this.find(subject);
    const needed = await this.#parts.runLists.ofName(namespace, workflow, version ?? undefined);
    refuseLack(account, needed);
    return account.id;
  }

  /** The same, where it is known what running takes. */
  async holding(subject: string | null, needed: readonly string[]): Promise<void> {
    refuseLack(await this.find(subject), needed);
  }

  /** The account as it is now, whatever it may run; of a caller who names itself, by its id. */
  async find(subject: string | null, id?: string): Promise<StoredIdentity> {
    if (subject === null) {
      const message = "no account is named; set run_as to the subject of a service account";
      throw new EngineError("principal_not_found", message);
    }
    const { identities } = this.#parts.ports.store;
    const account =
      id === undefined
        ? await identities.findBySubject(subject, ENGINE_ISSUER)
        : await identities.find(id);
    if (!account) {
      const isOther = await identities.hasSubject(subject);
      throw isOther
        ? refused("principal_not_service_account", subject, "is no service account")
        : refused("principal_not_found", subject, "does not exist");
    }
    if (account.banned) throw refused("principal_banned", subject, "is banned");
    if (!account.enabled) throw refused("principal_disabled", subject, "is disabled");
    return account;
  }
}

function refused(code: ErrorCode, principal: string, what: string): EngineError {
  const message = `${principal}, which executions are to run as, ${what}`;
  return new EngineError(code, message, { details: { principal } });
}

/** What an account lacks of a list. */
export function lackOf(
  { grants }: Pick<StoredIdentity, "grants">,
  needed: readonly string[],
): readonly string[] {
  const rights = rightsOf(grants);
  return needed.filter((permission) => !rights.holds(permission));
}

/** `principal_not_permitted` with all that an account lacks; undefined where it holds the whole list. */
export function lackingAccount(
  account: Pick<StoredIdentity, "subject" | "grants">,
  needed: readonly string[],
): EngineError | undefined {
  const { subject } = account;
  const missing = lackOf(account, needed);
  if (missing.length === 0) return undefined;
  return new EngineError("principal_not_permitted", `${subject} lacks ${missing.join(", ")}`, {
    details: { principal: subject, missing_permissions: missing },
  });
}

/** @throws EngineError `principal_not_permitted` with all that it lacks. */
export function refuseLack(account: StoredIdentity, needed: readonly string[]): void {
  const lacking = lackingAccount(account, needed);
  if (lacking) throw lacking;
}
