import { EngineError } from "@engine/contract";
import { ClientError, ResponseBodyError, WWWAuthenticateChallengeError } from "openid-client";

/**
 * Why a provider did not do what it was asked: it refused, it was not reached, or its answer cannot
 * be used. The text holds nothing of any token.
 */
export interface ProviderFailure {
  readonly kind: "refused" | "unreachable" | "unusable";
  /** Of a refusal, as `invalid_grant` (RFC 6749, RFC 8628). */
  readonly code?: string;
  readonly text: string;
}

/** Codes of answers that say nothing about what was asked. */
const PASSING: ReadonlySet<string> = new Set(["server_error", "temporarily_unavailable"]);
const LONGEST_TEXT = 200;

export function providerFailure(error: unknown): ProviderFailure {
  if (error instanceof ResponseBodyError) {
    const { error: code, error_description } = error;
    const text = [code, error_description].filter(Boolean).join(": ").slice(0, LONGEST_TEXT);
    return { kind: PASSING.has(code) ? "unreachable" : "refused", code, text };
  }
  if (error instanceof WWWAuthenticateChallengeError) {
    const code = error.cause[0]?.parameters.error ?? "invalid_client";
    return { kind: "refused", code, text: code.slice(0, LONGEST_TEXT) };
  }
  if (error instanceof ClientError) return clientFailure(error);
  const { cause, message } = error as Error;
  const { code } = (cause ?? {}) as NodeJS.ErrnoException;
  return { kind: "unreachable", text: code ?? message };
}

function clientFailure(error: ClientError): ProviderFailure {
  if (error.code === "OAUTH_TIMEOUT") return { kind: "unreachable", text: "it does not answer" };
  const { cause } = error;
  if (!(cause instanceof Response)) return { kind: "unusable", text: error.message };
  const isPassing = cause.status >= 500 || cause.status === 429;
  return { kind: isPassing ? "unreachable" : "unusable", text: `it answered ${cause.status}` };
}

/** What a command says when the provider is at fault; a refusal concerns the login. */
export function asEngineError(issuer: string, { kind, text }: ProviderFailure): EngineError {
  if (kind === "refused") {
    return new EngineError("unauthenticated", `${issuer} refuses the login (${text})`);
  }
  const what = kind === "unreachable" ? "cannot be reached" : "gives an answer that cannot be used";
  return new EngineError("auth_unavailable", `the OpenID provider ${issuer} ${what} (${text})`);
}
