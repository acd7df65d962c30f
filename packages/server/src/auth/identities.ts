import type { Credential, Identity } from "@engine/contract";
import type { StoredIdentity } from "@engine/store";
import type { EnginePorts } from "../engine-ports.ts";
import { EpochCache } from "./epoch-cache.ts";
import type { EpochWatch } from "./epoch-watch.ts";
import { unauthenticated } from "./unauthenticated.ts";

interface Parts {
  readonly ports: Pick<EnginePorts, "store" | "config" | "monotonic">;
  readonly epochs: EpochWatch;
}

/** Principals with what they hold, as they are now. */
export class Identities {
  readonly #ports: Parts["ports"];
  readonly #byId: EpochCache<StoredIdentity>;

  constructor({ ports, epochs }: Parts) {
    this.#ports = ports;
    const ttlMs = ports.config.security.auth.cache_ttl * 1000;
    this.#byId = new EpochCache({ ports, epochs, of: "identity", ttlMs });
  }

  /** Undefined for one that was deleted, or never was. */
  async find(id: string): Promise<StoredIdentity | undefined> {
    const { identities } = this.#ports.store;
    return this.#byId.known(id) ?? this.#byId.get(id, () => identities.find(id));
  }

  /**
   * The principal of a proven credential.
   *
   * @throws EngineError `unauthenticated`: `invalid` where it is gone, `banned`, `disabled`.
   */
  async admitted(id: string): Promise<StoredIdentity> {
    return admitted(await this.find(id));
  }
}

/** @throws EngineError `unauthenticated` for a principal that may not come in (AUTH-22). */
export function admitted(principal: StoredIdentity | undefined): StoredIdentity {
  if (!principal) throw unauthenticated("invalid");
  if (principal.banned) throw unauthenticated("banned");
  if (!principal.enabled) throw unauthenticated("disabled");
  return principal;
}

/** Who asks, by the principal and the credential that was proven. */
export function identityOf(
  { id, subject, issuer, type, roles, grants }: StoredIdentity,
  credential: Credential & { readonly expires_at: number | null },
  cut: Partial<Pick<Identity, "narrowed_to" | "via_execution">> = {},
): Identity {
  const principal = { id, subject, issuer, type, roles, grants };
  return { ...principal, narrowed_to: null, via_execution: null, ...cut, credential };
}
