import {
  type Answer,
  type AuditEntry,
  type CreatedJoinToken,
  formatInstant,
  type NewJoinToken,
  notFound,
  type routes,
} from "@engine/contract";
import type { EnginePorts } from "../engine-ports.ts";
import { newSecretToken } from "./secret-token.ts";

type Ports = Pick<EnginePorts, "store" | "config" | "clock" | "token">;

/** Who makes a token, and the row of the audit log that says so, by the token's id. */
interface Maker {
  readonly by: string | null;
  readonly entry: (id: string) => AuditEntry;
}

/** Tokens with which workers join, each once (AUTH-54). */
export class JoinTokens {
  readonly #ports: Ports;

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  /** The answer is the only place where the token's text is ever shown. */
  async create(
    { ttl_seconds, subject: name, services }: NewJoinToken,
    { by, entry }: Maker,
  ): Promise<CreatedJoinToken> {
    const subject = name ?? null;
    const { store, config, clock } = this.#ports;
    const { id, token, secret_hash } = newSecretToken("engine_jt", this.#ports);
    const ttl = ttl_seconds ?? config.workers.join_token_ttl;
    const expires_at = clock() + Math.round(ttl * 1000);
    const fresh = { id, secret_hash, subject, services, created_by: by, expires_at };
    await store.joinTokens.create(fresh, entry(id));
    return { id, token, subject, services: [...services], expires_at: formatInstant(expires_at) };
  }

  async list(page: {
    readonly limit: number;
    readonly offset: number;
  }): Promise<Answer<typeof routes.joinTokens.list>["body"]> {
    const { items, total } = await this.#ports.store.joinTokens.list(page);
    const records = items.map(({ id, subject, created_at, created_by, expires_at }) => ({
      id,
      subject,
      created_at: formatInstant(created_at),
      created_by,
      expires_at: formatInstant(expires_at),
    }));
    return { items: records, total, ...page };
  }

  /** @throws EngineError `not_found` for one that is used, revoked, expired or was never there. */
  async revoke(id: string, entry: AuditEntry): Promise<void> {
    if (await this.#ports.store.joinTokens.revoke(id, entry)) return;
    throw notFound("join token", id);
  }

  /** Of no token, too, nothing is told. */
  async revokeFor(subject: string, entry: AuditEntry): Promise<number> {
    return this.#ports.store.joinTokens.revokeFor(subject, entry);
  }
}
