import { EngineError, type NewApiKey, notFound } from "@engine/contract";
import type { KeyRow, Page } from "@engine/store";
import type { EnginePorts } from "../engine-ports.ts";
import type { AuditedCall } from "./audit-entry.ts";
import { identityWriteOf } from "./identity-writes.ts";
import { loginsOnceOn } from "./logins-once-on.ts";
import { type PrincipalName, refuseKeysOf } from "./principal-rules.ts";
import type { Principals } from "./principals.ts";
import { sortedPermissions } from "./role-rules.ts";
import { newSecretToken } from "./secret-token.ts";

const DAY_MS = 86_400_000;

interface Parts {
  readonly ports: Pick<EnginePorts, "store" | "config" | "clock" | "ids" | "token">;
  readonly principals: Pick<Principals, "get">;
  /** Called when it was changed who may do what, before that is answered. */
  readonly changed: () => void;
}

/** A key as it is made: the only time that its text is known. */
export interface CreatedKey extends KeyRow {
  readonly key: string;
}

/** What callers do with the keys of service accounts (AUTH-13). */
export class ApiKeys {
  readonly #parts: Parts;
  readonly #ports: Parts["ports"];

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#ports = parts.ports;
  }

  /**
   * @throws EngineError `provider_disabled` with API keys off, `conflict` for a name that is taken or
   * one key too many, `privilege_escalation`, `invalid_input` for who is no service account.
   */
  async create(
    of: PrincipalName,
    { name, expires_in_days, permissions }: NewApiKey,
    call: AuditedCall,
  ): Promise<CreatedKey> {
    const principal = await this.#parts.principals.get(of);
    refuseKeysOf(principal);
    if (!loginsOnceOn(this.#ports.config).api_keys) throw providerDisabled();
    const { id, token, secret_hash } = newSecretToken("engine_sk", this.#ports);
    const days = expires_in_days;
    const created = await this.#ports.store.keys.create(
      {
        ...{ id, name, secret_hash, principal_id: principal.id },
        permissions: permissions && sortedPermissions(permissions),
        expires_at: days === null ? null : this.#ports.clock() + days * DAY_MS,
      },
      identityWriteOf(call, { target: of.subject }, this.#ports),
    );
    if (!created) throw notFound("principal", of.subject);
    this.#parts.changed();
    return { ...created, key: token };
  }

  /** @throws EngineError `not_found`, `ambiguous_subject`. */
  async list(
    of: PrincipalName,
    page: { readonly limit: number; readonly offset: number },
  ): Promise<Page<KeyRow>> {
    const { id } = await this.#parts.principals.get(of);
    return this.#ports.store.keys.list(id, page);
  }

  /** @throws EngineError `not_found`, `last_admin`. */
  async revoke(of: PrincipalName, name: string, call: AuditedCall): Promise<void> {
    const { id } = await this.#parts.principals.get(of);
    const write = identityWriteOf(call, { target: of.subject }, this.#ports);
    if (!(await this.#ports.store.keys.delete(id, name, write))) throw notFound("key", name);
    this.#parts.changed();
  }
}

function providerDisabled(): EngineError {
  return new EngineError(
    "provider_disabled",
    "no key would be accepted: API keys are turned off by [engine.security.auth.api_keys] enabled",
  );
}
