import { sameIssuer } from "./provider-url.ts";
import { TokenRefusal } from "./token-refusal.ts";
import type { JsonObject } from "./unverified-token.ts";

/** Whose tokens for whom are taken. */
export interface Expected {
  readonly issuer: string;
  /** Undefined: whatever the token says. */
  readonly audiences: readonly string[] | undefined;
}

/** The claims that a decision is made by. */
export interface CheckedClaims {
  readonly subject: string;
  /** Seconds since 1970, as the times beside it. */
  readonly expires: number;
  readonly not_before: number | undefined;
  readonly issued: number | undefined;
}

const LONGEST_SUBJECT = 255;
/** No instant of a `Date` lies further ahead. */
const LAST_SECOND = 8.64e12;

/**
 * Everything about claims that no clock is needed for (AUTH-14). It tells less than the signature
 * would, and needs no key: a token of somebody else makes nobody fetch.
 *
 * @throws TokenRefusal `invalid`
 */
export function checkClaims(claims: JsonObject, expected: Expected): CheckedClaims {
  const { iss, sub, aud, exp, nbf, iat } = claims;
  if (typeof iss !== "string" || !sameIssuer(iss, expected.issuer)) {
    throw new TokenRefusal("issuer");
  }
  if (expected.audiences && !isFor(aud, expected.audiences)) throw new TokenRefusal("audience");
  if (!isSubject(sub)) throw new TokenRefusal("subject");
  if (!isTime(exp)) throw new TokenRefusal("expiry");
  if (nbf !== undefined && !isTime(nbf)) throw new TokenRefusal("not_before");
  if (iat !== undefined && !isTime(iat)) throw new TokenRefusal("issued_at");
  return { subject: sub, expires: exp, not_before: nbf, issued: iat };
}

/**
 * Whether it is the time of a token, give or take `skew` seconds; `now` in seconds since 1970.
 *
 * @throws TokenRefusal `invalid`, or `expired` when that is all that is wrong.
 */
export function checkTimes(claims: CheckedClaims, now: number, skew: number): void {
  const { expires, not_before = now, issued = now } = claims;
  if (not_before > now + skew) throw new TokenRefusal("not_before");
  if (issued > now + skew) throw new TokenRefusal("issued_at");
  if (expires + skew <= now) throw new TokenRefusal("expired");
}

function isFor(aud: unknown, audiences: readonly string[]): boolean {
  const named: readonly unknown[] = Array.isArray(aud) ? aud : [aud];
  return audiences.some((audience) => named.includes(audience));
}

/** Whether a claim is text that every database keeps: not all of them take a NUL. */
export function isKeptText(claim: unknown): claim is string {
  return typeof claim === "string" && claim.isWellFormed() && !claim.includes("\0");
}

function isSubject(sub: unknown): sub is string {
  return isKeptText(sub) && sub !== "" && [...sub].length <= LONGEST_SUBJECT;
}

function isTime(value: unknown): value is number {
  return typeof value === "number" && Math.abs(value) <= LAST_SECOND;
}
