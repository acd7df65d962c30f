/** For tests: an OpenID provider that a test turns as it likes, behind a `fetch` without a network. */
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from "jose";
import type { TokenFetch } from "../fetch-json.ts";
import {
  createTokenVerifier,
  type TokenVerifier,
  type TokenVerifierOptions,
} from "../token-verifier.ts";

export const ISSUER = "https://id.example";
export const AUDIENCE = "engine";

export interface SigningKey {
  readonly privateKey: CryptoKey;
  /** As the provider publishes it. */
  readonly jwk: JWK;
}

/** A key made for one algorithm, with the name `kid`. */
export async function signingKey(kid: string, alg = "ES256"): Promise<SigningKey> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  return { privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: "sig" } };
}

interface TokenParts {
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly header?: Readonly<Record<string, unknown>>;
}

type Answer = () => Response | Promise<Response>;

export class ScriptedProvider {
  /** Milliseconds since 1970; stands until a test moves it. */
  now: number = Date.UTC(2026, 0, 1);
  readonly documents: Map<string, Answer> = new Map<string, Answer>();
  /** Addresses that were asked for, in order. */
  readonly asked: string[] = [];
  readonly warnings: string[] = [];
  /** While set, nobody reaches the provider. */
  isAway = false;
  readonly #key: SigningKey;

  private constructor(key: SigningKey) {
    this.#key = key;
  }

  /** One with a discovery document and one key, `first`. */
  static async start(alg = "ES256"): Promise<ScriptedProvider> {
    const provider = new ScriptedProvider(await signingKey("first", alg));
    provider.publish(provider.#key.jwk);
    provider.answer("/.well-known/openid-configuration", {
      issuer: ISSUER,
      jwks_uri: `${ISSUER}/keys`,
    });
    return provider;
  }

  get key(): SigningKey {
    return this.#key;
  }

  publish(...keys: readonly JWK[]): void {
    this.answer("/keys", { keys });
  }

  answer(path: string, document: unknown): void {
    this.documents.set(`${ISSUER}${path}`, () => Response.json(document));
  }

  readonly fetch: TokenFetch = async (url) => {
    this.asked.push(url);
    if (this.isAway) throw new TypeError("fetch failed", { cause: new Error("ECONNREFUSED") });
    return this.documents.get(url)?.() ?? new Response(null, { status: 404 });
  };

  verifier(options: Partial<TokenVerifierOptions> = {}): TokenVerifier {
    return createTokenVerifier({
      issuer: ISSUER,
      audience: AUDIENCE,
      skew: 30,
      fetch: this.fetch,
      clock: () => this.now,
      warn: (message) => void this.warnings.push(message),
      ...options,
    });
  }

  /** A token for ten minutes, with claims and header fields changed; undefined takes one away. */
  token({ claims, header }: TokenParts = {}, key: SigningKey = this.#key): Promise<string> {
    const now = Math.floor(this.now / 1000);
    const payload = {
      iss: ISSUER,
      sub: "ada",
      aud: AUDIENCE,
      iat: now,
      exp: now + 600,
      ...claims,
    };
    const { alg = "ES256", kid } = key.jwk;
    return new SignJWT(payload)
      .setProtectedHeader({ alg, ...(kid !== undefined && { kid }), ...header })
      .sign(key.privateKey);
  }

  /** How often the keys themselves were fetched. */
  get fetches(): number {
    return this.asked.filter((url) => url === `${ISSUER}/keys`).length;
  }
}
