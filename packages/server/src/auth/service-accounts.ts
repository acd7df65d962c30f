import { EngineError, type ErrorCode } from "@engine/contract";
import type { EnginePorts } from "../engine-ports.ts";
import { type Account, accountOf } from "./run-as.ts";

/** The service accounts that something is to run as, as the store has them now (AUTH-47, AUTH-48). */
export class ServiceAccounts {
  readonly #store: EnginePorts["store"];

  constructor({ store }: Pick<EnginePorts, "store">) {
    this.#store = store;
  }

  /**
   * @param needed What running takes there (AUTH-31).
   * @throws EngineError `principal_not_found`, `principal_not_service_account`, `principal_banned`,
   * `principal_disabled`, and `principal_not_permitted` naming all that is missing.
   */
  async permitted(subject: string, needed: readonly string[]): Promise<Account> {
    const account = await this.get(subject);
    const missing = missingOf(account, needed);
    if (missing.length > 0) throw notPermitted(subject, missing);
    return account;
  }

  /** As {@link permitted}, whatever it may run. */
  async get(subject: string): Promise<Account> {
    const named = await this.#store.principals.findBySubject(subject);
    const service = named.find(({ type }) => type === "service_account");
    if (!service) {
      throw named.length > 0
        ? refused("principal_not_service_account", `${subject} is no service account`)
        : refused("principal_not_found", `there is no service account ${subject}`);
    }
    return this.byId(service.id, subject);
  }

  /** Of whatever type, by its id: for a caller who names itself. */
  async byId(id: string, subject: string): Promise<Account> {
    const found = await this.#store.identities.find(id);
    if (!found) throw refused("principal_not_found", `there is no principal ${subject}`);
    const account = accountOf(found);
    if (account.state === "banned") throw refused("principal_banned", `${subject} is banned`);
    if (account.state === "disabled") throw refused("principal_disabled", `${subject} is disabled`);
    return account;
  }
}

/** What an account lacks of a list. */
export function missingOf({ rights }: Account, needed: readonly string[]): readonly string[] {
  return needed.filter((permission) => !rights.holds(permission));
}

export function notPermitted(
  principal: string,
  missing_permissions: readonly string[],
): EngineError {
  const message = `${principal} lacks ${missing_permissions.join(", ")}`;
  return new EngineError("principal_not_permitted", message, {
    details: { principal, missing_permissions },
  });
}

function refused(code: ErrorCode, message: string): EngineError {
  return new EngineError(code, message);
}
