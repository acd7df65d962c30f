import { type CryptoKey, compactVerify, createLocalJWKSet, errors, type JSONWebKeySet } from "jose";
import type { TokenAlgorithm } from "./token-algorithms.ts";

/** What a token says of its signature. */
export interface Signed {
  readonly alg: TokenAlgorithm;
  /** The provider's name for the key; providers with a single key may leave it out. */
  readonly kid: string | undefined;
}

/** `unknown` where a key that this set does not have could still verify it. */
export type Verdict = "verified" | "wrong" | "unknown";

/** More keys of one name make no sense; each costs a signature to check. */
const MOST_OF_ONE_NAME = 4;

/** The keys of a provider as they were at one time. */
export class KeySet {
  readonly #find: ReturnType<typeof createLocalJWKSet>;

  /** @throws Error with a reason, when that is no set of keys. */
  constructor(document: unknown) {
    const { keys } = (document ?? {}) as { keys?: unknown };
    if (!Array.isArray(keys) || keys.length === 0) throw new Error("the answer holds no keys");
    try {
      this.#find = createLocalJWKSet({ keys } as JSONWebKeySet);
    } catch {
      throw new Error("the answer is no set of keys");
    }
  }

  /** Whether a key of that name, made for that algorithm and for signatures, signed the token. */
  async judge(token: string, signed: Signed): Promise<Verdict> {
    const keys = await this.#keysFor(signed);
    for (const key of keys) {
      if (await isSignedBy(token, signed.alg, key)) return "verified";
    }
    // A key without a name may have been replaced unseen.
    return keys.length === 0 || signed.kid === undefined ? "unknown" : "wrong";
  }

  async #keysFor({ alg, kid }: Signed): Promise<readonly CryptoKey[]> {
    try {
      return [await this.#find({ alg, ...(kid !== undefined && { kid }) })];
    } catch (error) {
      // Which of several keys without a name is meant, nobody can say.
      if (!(error instanceof errors.JWKSMultipleMatchingKeys) || kid === undefined) return [];
      const keys: CryptoKey[] = [];
      for await (const key of error) {
        if (keys.push(key) === MOST_OF_ONE_NAME) break;
      }
      return keys;
    }
  }
}

/** A key that cannot be used, such as one that is too short, verifies nothing. */
async function isSignedBy(token: string, alg: TokenAlgorithm, key: CryptoKey): Promise<boolean> {
  try {
    await compactVerify(token, key, { algorithms: [alg] });
    return true;
  } catch {
    return false;
  }
}
