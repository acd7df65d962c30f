import { EngineError } from "@engine/contract";
import { checkClaims, checkTimes, type Expected, isKeptText } from "./claim-rules.ts";
import type { SetTimer, TokenFetch } from "./fetch-json.ts";
import { fetchKeys } from "./fetch-keys.ts";
import type { Signed } from "./key-set.ts";
import { ProviderKeys } from "./provider-keys.ts";
import { isTokenAlgorithm, TOKEN_ALGORITHMS } from "./token-algorithms.ts";
import { TokenRefusal } from "./token-refusal.ts";
import { type JsonObject, readToken } from "./unverified-token.ts";
import { type VerifierSettings, verifierProblems } from "./verifier-problems.ts";

/** Whose a token is, and what it says besides. */
export interface VerifiedToken {
  /** `sub`: 1 to 255 characters, text that any database keeps. */
  readonly subject: string;
  /** The issuer as configured, however the token spells it: one name for all its subjects. */
  readonly issuer: string;
  /** Milliseconds since 1970. */
  readonly expires_at: number;
  /** Undefined where the token has none, or one that no database would keep. */
  readonly name: string | undefined;
  readonly preferred_username: string | undefined;
  /** All claims, as the provider signed them. */
  readonly claims: Readonly<Record<string, unknown>>;
}

export interface TokenVerifier {
  /**
   * Says whose a token is (AUTH-14), given without the `Bearer` in front of it.
   *
   * @throws TokenRefusal for a token that is not taken.
   * @throws EngineError `auth_unavailable` while the provider's keys cannot be had (AUTH-15).
   */
  verify(token: string): Promise<VerifiedToken>;
}

export interface TokenVerifierOptions extends VerifierSettings {
  /** Seconds by which clocks may differ. */
  readonly skew: number;
  /** Seconds for which the provider's keys are used before they are fetched again; 3600. */
  readonly jwks_cache?: number;
  readonly fetch: TokenFetch;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** Ends fetches that take too long. */
  readonly setTimer?: SetTimer;
  /** Told what an operator should know of the provider; never anything of a token. */
  readonly warn?: (message: string) => void;
}

const CACHE_SECONDS = 3600;

/**
 * Verifies tokens of one provider, for as long as the process lives. Nothing is fetched before the
 * first token comes: a provider that is down stops no start.
 *
 * @throws EngineError `invalid_input` for settings that {@link verifierProblems} complains of.
 */
export function createTokenVerifier(options: TokenVerifierOptions): TokenVerifier {
  refuseProblems(options);
  const { issuer, skew, clock } = options;
  const algorithms = options.algorithms ?? TOKEN_ALGORITHMS;
  const expected: Expected = { issuer, audiences: audiencesOf(options) };
  const keys = providerKeys(options);

  async function isProven(token: string, signed: Signed): Promise<boolean> {
    const known = await keys.current();
    const verdict = await known.judge(token, signed);
    if (verdict !== "unknown") return verdict === "verified";
    const newer = await keys.newerThan(known);
    return newer !== undefined && (await newer.judge(token, signed)) === "verified";
  }

  return {
    async verify(token) {
      const { header, claims } = readToken(token);
      const signed = signatureOf(header, algorithms);
      const checked = checkClaims(claims, expected);
      if (!(await isProven(token, signed))) throw new TokenRefusal("signature");
      checkTimes(checked, clock() / 1000, skew);
      return {
        subject: checked.subject,
        issuer,
        expires_at: Math.floor(checked.expires * 1000),
        name: textOf(claims["name"]),
        preferred_username: textOf(claims["preferred_username"]),
        claims,
      };
    },
  };
}

function refuseProblems(settings: VerifierSettings): void {
  const issues = verifierProblems(settings);
  const [first] = issues;
  if (!first) return;
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : "";
  throw new EngineError("invalid_input", `${first.path}: ${first.message}${more}`, {
    details: { issues },
  });
}

function providerKeys(options: TokenVerifierOptions): ProviderKeys {
  const { issuer, jwks_uri, fetch, clock, setTimer = processTimer, warn = () => {} } = options;
  // A provider that never says where its keys are is worth one line.
  const guessed = onceInARow(warn);
  return new ProviderKeys({
    load: () => fetchKeys({ issuer, jwks_uri }, { fetch, setTimer }, guessed),
    cache: options.jwks_cache ?? CACHE_SECONDS,
    clock,
    warn,
  });
}

/** @throws TokenRefusal for a signature that no key could prove. */
function signatureOf({ alg, kid, crit }: JsonObject, algorithms: readonly string[]): Signed {
  if (!isTokenAlgorithm(alg) || !algorithms.includes(alg)) throw new TokenRefusal("algorithm");
  if (crit !== undefined) throw new TokenRefusal("critical");
  if (kid !== undefined && typeof kid !== "string") throw new TokenRefusal("signature");
  return { alg, kid };
}

function audiencesOf({ audience }: VerifierSettings): readonly string[] | undefined {
  return typeof audience === "string" ? [audience] : audience;
}

function textOf(claim: unknown): string | undefined {
  return isKeptText(claim) ? claim : undefined;
}

function onceInARow(warn: (message: string) => void): (message: string) => void {
  let last: string | undefined;
  return (message) => {
    if (message !== last) warn(message);
    last = message;
  };
}

function processTimer(run: () => void, ms: number): () => void {
  const timer = setTimeout(run, ms);
  return () => clearTimeout(timer);
}
