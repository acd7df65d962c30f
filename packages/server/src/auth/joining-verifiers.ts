import { timingSafeEqual } from "node:crypto";
import type { CredentialKind, Identity } from "@engine/contract";
import type { EnginePorts } from "../engine-ports.ts";
import { isSame, NO_HASH } from "./api-key-verifier.ts";
import { secretHash, tokenId } from "./secret-token.ts";
import type { TokenVerifier } from "./token-verifier.ts";
import { unauthenticated } from "./unauthenticated.ts";
import { workerIdentity } from "./worker-identity.ts";

type Store = Pick<EnginePorts, "store">;

/** Proves join tokens. That does not consume them: registration does (AUTH-50). */
export class JoinTokenVerifier implements TokenVerifier {
  readonly kind = "join_token";
  readonly #ports: Store;

  constructor(ports: Store) {
    this.#ports = ports;
  }

  async identify(token: string): Promise<Identity> {
    const { joinTokens } = this.#ports.store;
    const found = await joinTokens.find(tokenId(token));
    const isRight = isSame(found?.secret_hash ?? NO_HASH, secretHash(token));
    if (!found || !isRight) throw unauthenticated("invalid");
    return somebody(this.kind, found.id, found.expires_at);
  }
}

/** Proves the bootstrap token that a server has made, as the store has it at this moment (AUTH-53). */
export class BootstrapTokenVerifier implements TokenVerifier {
  readonly kind = "bootstrap_token";
  readonly #ports: Store;

  constructor(ports: Store) {
    this.#ports = ports;
  }

  async identify(token: string): Promise<Identity> {
    const kept = await this.#ports.store.joinTokens.bootstrap();
    if (!isSame(kept ?? NO_HASH, secretHash(token))) throw unauthenticated("invalid");
    return somebody(this.kind, null, null);
  }
}

/** For the bootstrap token of the configuration, which was compared already. */
export const configuredBootstrap: TokenVerifier = {
  kind: "bootstrap_token",
  identify: async () => somebody("bootstrap_token", null, null),
};

/** Compares a token with a text of the configuration in a time that tells nothing of that. */
export function isText(text: string): (token: string) => boolean {
  const wanted = Buffer.from(secretHash(text));
  return (token) => timingSafeEqual(Buffer.from(secretHash(token)), wanted);
}

/** Whoever wants to become a worker; as which one, the body says. No worker's name looks like this. */
function somebody(kind: CredentialKind, id: string | null, expires_at: number | null): Identity {
  const subject = id === null ? kind : `${kind}:${id}`;
  return workerIdentity(subject, null, { kind, id, expires_at });
}
