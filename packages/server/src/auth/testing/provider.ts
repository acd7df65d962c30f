import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import type { TokenFetch } from "@engine/oidc";

export const ISSUER = "https://id.example";
export const AUDIENCE = "engine";

/** An OpenID provider behind a `fetch` without a network. */
export class Provider {
  /** While set, nobody reaches it. */
  isAway = false;
  readonly #key: KeyObject;
  readonly #jwk: object;

  constructor() {
    const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    this.#key = privateKey;
    const jwk = publicKey.export({ format: "jwk" });
    this.#jwk = { ...jwk, kid: "first", alg: "ES256", use: "sig" };
  }

  readonly fetch: TokenFetch = async (url) => {
    if (this.isAway) throw new TypeError("fetch failed");
    if (url === `${ISSUER}/keys`) return Response.json({ keys: [this.#jwk] });
    const isDiscovery = url === `${ISSUER}/.well-known/openid-configuration`;
    return isDiscovery
      ? Response.json({ issuer: ISSUER, jwks_uri: `${ISSUER}/keys` })
      : new Response(null, { status: 404 });
  };

  /** A token for ten minutes from now on. */
  token(claims: Readonly<Record<string, unknown>> = {}, now: number = Date.now()): string {
    const iat = Math.floor(now / 1000);
    const payload = { iss: ISSUER, sub: "ada", aud: AUDIENCE, iat, exp: iat + 600, ...claims };
    const signed = [{ alg: "ES256", kid: "first" }, payload]
      .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
      .join(".");
    const how = { key: this.#key, dsaEncoding: "ieee-p1363" } as const;
    return `${signed}.${sign("sha256", Buffer.from(signed), how).toString("base64url")}`;
  }
}
