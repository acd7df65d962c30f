import { timingSafeEqual } from "node:crypto";
import type { Identity } from "@engine/contract";
import type { EnginePorts } from "../engine-ports.ts";
import { admitted, identityOf } from "./identities.ts";
import { secretHash, tokenId } from "./secret-token.ts";
import type { KeptVerifier } from "./token-verifier.ts";
import { unauthenticated } from "./unauthenticated.ts";

/** Proves keys of service accounts. */
export class ApiKeyVerifier implements KeptVerifier {
  readonly kind = "api_key";
  readonly isKept = true;
  readonly #ports: Pick<EnginePorts, "store" | "clock">;

  constructor(ports: Pick<EnginePorts, "store" | "clock">) {
    this.#ports = ports;
  }

  async identify(token: string): Promise<Identity> {
    const { store, clock } = this.#ports;
    const found = await store.identities.findByKey(tokenId(token));
    // An unknown id takes as long as a wrong secret.
    const isRight = isSame(found?.key.secret_hash ?? NO_HASH, secretHash(token));
    if (!found || !isRight) throw unauthenticated("invalid");
    const { key, principal } = found;
    const { id, expires_at, permissions: narrowed_to } = key;
    if (expires_at !== null && clock() >= expires_at) throw unauthenticated("expired");
    return identityOf(admitted(principal), { kind: "api_key", id, expires_at }, { narrowed_to });
  }
}

/** The hash of nothing. */
export const NO_HASH: string = "0".repeat(64);

/** Compares two hashes in a time that tells nothing of them. */
export function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
