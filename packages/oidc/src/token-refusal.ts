/** Which check a token failed. Only for who may know more than {@link TokenRefusalReason} (MCA-2). */
export type FailedCheck = keyof typeof FAILURES;

/** What a caller is told (AUTH-9); `expired` only of a token that is right but for its age. */
export type TokenRefusalReason = "malformed" | "invalid" | "expired";

/** Each as a sentence that may stand in a header: plain, and nothing out of the token. */
const FAILURES = {
  shape: "the token is not a signed JWT",
  algorithm: "the token is signed with an algorithm that is not taken",
  critical: "the token has critical extensions, of which none is known",
  issuer: "the token is of another issuer",
  audience: "the token is for another audience",
  subject: "the token has no subject of 1 to 255 characters",
  expiry: "the token does not say when it expires",
  signature: "no key of the issuer verifies the signature of the token",
  not_before: "the token is not valid yet",
  issued_at: "the token was issued in the future",
  expired: "the token has expired",
} as const;

/** A token that is not taken. Holds nothing of the token itself. */
export class TokenRefusal extends Error {
  override readonly name = "TokenRefusal";
  readonly reason: TokenRefusalReason;
  readonly check: FailedCheck;

  constructor(check: FailedCheck) {
    super(FAILURES[check]);
    this.check = check;
    this.reason = reasonOf(check);
  }
}

function reasonOf(check: FailedCheck): TokenRefusalReason {
  if (check === "shape") return "malformed";
  return check === "expired" ? "expired" : "invalid";
}
