import { BUILT_IN_ROLES, type Config, type Identity, isBuiltInRole } from "@engine/contract";
import type { TokenVerifier as ProviderVerifier, VerifiedToken } from "@engine/oidc";
import { TokenRefusal } from "@engine/oidc";
import type { Login, StoredIdentity } from "@engine/store";
import type { EnginePorts } from "../engine-ports.ts";
import type { EpochWatch } from "./epoch-watch.ts";
import { admitted, identityOf } from "./identities.ts";
import type { KeptVerifier } from "./token-verifier.ts";
import { unauthenticated } from "./unauthenticated.ts";

type OidcTable = Config["security"]["auth"]["oidc"];

interface Parts {
  readonly ports: Pick<EnginePorts, "store" | "ids" | "clock">;
  readonly epochs: EpochWatch;
  readonly provider: ProviderVerifier;
  readonly oidc: OidcTable;
  /** Whether service accounts can log in: then the first admin is one of them (AUTH-4). */
  readonly hasApiKeys: boolean;
}

/** Proves tokens of the provider, and maps each to its user (AUTH-16). */
export class OidcVerifier implements KeptVerifier {
  readonly kind = "oidc";
  readonly isKept = true;
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  async identify(token: string): Promise<Identity> {
    const verified = await this.#verify(token);
    return identified(verified, admitted(await this.#user(verified)));
  }

  /** The same without a login: nobody is made, and nothing is taken over. */
  async test(token: string): Promise<Identity> {
    const verified = await this.#verify(token);
    const { subject, issuer } = verified;
    const user = await this.#parts.ports.store.identities.findBySubject(subject, issuer);
    return identified(verified, admitted(user ?? this.#stranger(verified)));
  }

  async #verify(token: string): Promise<VerifiedToken> {
    try {
      return await this.#parts.provider.verify(token);
    } catch (error) {
      if (error instanceof TokenRefusal) throw unauthenticated(error.reason);
      throw error;
    }
  }

  async #user(verified: VerifiedToken): Promise<StoredIdentity> {
    const { ports, epochs } = this.#parts;
    const { subject, issuer } = verified;
    const login = this.#login(verified);
    const known = await ports.store.identities.findBySubject(subject, issuer);
    // Nearly every login finds everything as it left it, and writes nothing.
    if (known && !isNews(known, login)) return known;
    const user = await ports.store.identities.login(login);
    if (!user) throw unauthenticated("not_provisioned");
    epochs.raised("identity");
    return user;
  }

  #login({ subject, issuer, name, preferred_username, claims }: VerifiedToken): Login {
    const { ports, oidc, hasApiKeys } = this.#parts;
    const mayBecomeAdmin = !hasApiKeys && oidc.initial_admins.includes(subject);
    const id = ports.ids();
    return {
      ...{ id, subject, issuer },
      display_name: name ?? preferred_username ?? null,
      default_roles: oidc.default_user_roles,
      claimed_roles: claimedRoles(claims, oidc),
      admin_unless: mayBecomeAdmin ? { api_keys: hasApiKeys, oidc_issuer: issuer } : null,
      entry: {
        id: ports.ids(),
        at: ports.clock(),
        actor: { subject, issuer, type: "user" },
        credential: { kind: "oidc", id: null },
        via_execution: null,
        action: "auth.login",
        target: subject,
        decision: "allow",
        permissions: [],
        reason: null,
        client_address: null,
        request_id: null,
        changes: null,
      },
    };
  }

  /** A user who never came, as the first login would make it. */
  #stranger({ subject, issuer, name, preferred_username, claims }: VerifiedToken): StoredIdentity {
    const { oidc } = this.#parts;
    if (oidc.default_user_roles.length === 0) throw unauthenticated("not_provisioned");
    const roles = [...oidc.default_user_roles, ...(claimedRoles(claims, oidc) ?? [])];
    const builtIn = roles.filter(isBuiltInRole);
    const grants = builtIn.flatMap((role): readonly string[] => BUILT_IN_ROLES[role].permissions);
    const display_name = name ?? preferred_username ?? null;
    const flags = { enabled: true, banned: false, claimed_roles: [] };
    return { id: "", type: "user", subject, issuer, display_name, roles, grants, ...flags };
  }
}

function identified({ expires_at }: VerifiedToken, user: StoredIdentity): Identity {
  return identityOf(user, { kind: "oidc", id: null, expires_at });
}

function isNews(known: StoredIdentity, login: Login): boolean {
  if (!known.enabled || known.banned) return false;
  const { display_name, claimed_roles, admin_unless } = login;
  const isRenamed = display_name !== null && display_name !== known.display_name;
  const isOther = claimed_roles !== null && !isSameList(claimed_roles, known.claimed_roles);
  return isRenamed || isOther || (admin_unless !== null && !known.roles.includes("admin"));
}

function isSameList(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((item) => other.includes(item));
}

/** Roles by the claim that lists them; null where claims do not count (AUTH-16). */
function claimedRoles(
  claims: VerifiedToken["claims"],
  { roles_claim, role_mapping }: OidcTable,
): readonly string[] | null {
  if (roles_claim === "" || Object.keys(role_mapping).length === 0) return null;
  const values = Object.hasOwn(claims, roles_claim) ? [claims[roles_claim]].flat() : [];
  const mapped = values.flatMap((value) =>
    typeof value === "string" && Object.hasOwn(role_mapping, value)
      ? [role_mapping[value] as string]
      : [],
  );
  return [...new Set(mapped)];
}
