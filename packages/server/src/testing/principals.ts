import { interposed, type Store, type StoredIdentity } from "@engine/store";

/** Principals as a test wants them, in front of a store. */
export class Principals {
  readonly #byId = new Map<string, StoredIdentity>();
  #epoch = 0;
  /** How often anybody was read. */
  reads = 0;
  /** While set, whoever has created an execution hears of it only then. */
  afterCommit: Promise<void> | undefined;

  /** There is one from now on, or it is as said by now. */
  set(id: string, grants: readonly string[], flags: Partial<StoredIdentity> = {}): void {
    this.#epoch++;
    const subject = `${id}@acme`;
    const names = { id, subject, issuer: "engine", display_name: null };
    const rest = { roles: [], claimed_roles: [], grants, enabled: true, banned: false };
    this.#byId.set(id, { type: "service_account", ...names, ...rest, ...flags });
  }

  delete(id: string): void {
    this.#epoch++;
    this.#byId.delete(id);
  }

  before(store: Store): Store {
    return interposed(store, ({ name }, call) => {
      if (!call) return undefined;
      if (name === "identities.find") {
        return async (id) => {
          this.reads++;
          return this.#byId.get(id as string);
        };
      }
      if (name === "executions.create") {
        return async (...args) => {
          const created = await call(...args);
          await this.afterCommit;
          return created;
        };
      }
      if (name === "epochs.read") {
        return async () => ({ identity: this.#epoch, masks: 0, services: 0, catalog: 0, hooks: 0 });
      }
      return call;
    });
  }
}
