import type { TokenFetch } from "@engine/oidc";
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from "jose";

export const ISSUER = "https://id.example";
export const AUDIENCE = "engine";

/** A key pair of the issuer; its name is in every token that it signs. */
export interface SigningKey {
  readonly privateKey: CryptoKey;
  readonly jwk: JWK;
}

export async function signingKey(kid: string): Promise<SigningKey> {
  const { publicKey, privateKey } = await generateKeyPair("ES256", { extractable: true });
  return { privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg: "ES256", use: "sig" } };
}

/** For tests: an issuer of tokens behind a `fetch` without a network, with a clock that stands. */
export class ScriptedIssuer {
  /** Milliseconds since 1970. */
  now: number = Date.UTC(2026, 0, 1);
  /** While set, nobody reaches it. */
  isAway = false;
  /** Without one, where its keys are has to be guessed. */
  hasDiscovery = true;
  /** Addresses that were asked for, in order. */
  readonly asked: string[] = [];
  #key: SigningKey;

  private constructor(key: SigningKey) {
    this.#key = key;
  }

  static async start(): Promise<ScriptedIssuer> {
    return new ScriptedIssuer(await signingKey("first"));
  }

  /** From now on it signs with another key, and no longer publishes the one before. */
  async rotate(): Promise<void> {
    this.#key = await signingKey("second");
  }

  readonly clock = (): number => this.now;
  readonly fetch: TokenFetch = async (url) => {
    this.asked.push(url);
    if (this.isAway) throw new TypeError("fetch failed", { cause: new Error("ECONNREFUSED") });
    const path = url.slice(ISSUER.length);
    if (path === "/keys" || path === "/.well-known/jwks.json") {
      return Response.json({ keys: [this.#key.jwk] });
    }
    return path === "/.well-known/openid-configuration" && this.hasDiscovery
      ? Response.json({ issuer: ISSUER, jwks_uri: `${ISSUER}/keys` })
      : new Response(null, { status: 404 });
  };

  /** A token for ten minutes, with claims changed; undefined takes one away. */
  token(
    claims: Readonly<Record<string, unknown>> = {},
    key: SigningKey = this.#key,
  ): Promise<string> {
    const now = this.seconds;
    const usual = { iss: ISSUER, sub: "ada", aud: AUDIENCE, iat: now, exp: now + 600 };
    return new SignJWT({ ...usual, ...claims })
      .setProtectedHeader({ alg: "ES256", kid: key.jwk.kid ?? "" })
      .sign(key.privateKey);
  }

  /** Its time as tokens have it. */
  get seconds(): number {
    return Math.floor(this.now / 1000);
  }
}

/** A token that nobody signed, with a signature all the same. */
export function unsignedToken(claims: Readonly<Record<string, unknown>>): string {
  const parts = [{ alg: "none" }, claims].map((part) => JSON.stringify(part));
  return `${parts.map((part) => Buffer.from(part).toString("base64url")).join(".")}.AAAA`;
}
