import { type CredentialKind, EngineError } from "@engine/contract";
import { unauthenticated } from "./unauthenticated.ts";

/** What a token looks like decides which kind it is: kinds are never tried in turn (AUTH-11). */
export type TokenShape = Extract<
  CredentialKind,
  | "api_key"
  | "execution_token"
  | "worker_credential"
  | "join_token"
  | "bootstrap_token"
  | "internal"
  | "oidc"
>;

const SHAPES: readonly (readonly [TokenShape, RegExp])[] = [
  ["api_key", /^engine_sk_[a-z0-9]{12}_[A-Za-z0-9_-]+$/],
  ["execution_token", /^engine_et_[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/],
  ["worker_credential", /^engine_wk_[a-z0-9]{12}_[A-Za-z0-9_-]+$/],
  ["join_token", /^engine_jt_[A-Za-z0-9_-]+$/],
  ["bootstrap_token", /^engine_bt_[A-Za-z0-9_-]+$/],
  ["internal", /^engine_in_[A-Za-z0-9_-]+$/],
  ["oidc", /^(?!engine_)[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*$/],
];

const LONGEST_TOKEN = 16 * 1024;

/** Undefined for a text that is no token of any kind. */
export function tokenShape(token: string): TokenShape | undefined {
  return SHAPES.find(([, pattern]) => pattern.test(token))?.[0];
}

/**
 * The token of a request (AUTH-8).
 *
 * @param raw_headers Name, value, name, value, as they came.
 * @throws EngineError `bad_request` for two credentials, `unauthenticated` without one.
 */
export function bearerToken(raw_headers: readonly string[]): string {
  let credential: string | undefined;
  for (let i = 0; i < raw_headers.length; i += 2) {
    const name = raw_headers[i] as string;
    if (name.length !== HEADER.length || name.toLowerCase() !== HEADER) continue;
    if (credential !== undefined) {
      throw new EngineError("bad_request", "the request has more than one Authorization header");
    }
    credential = raw_headers[i + 1];
  }
  if (credential === undefined) throw unauthenticated("missing");
  // A scheme, spaces, and a token without any.
  const [scheme = "", token = "", ...rest] = credential.trim().split(/ +/, 3);
  const isBearer = scheme.toLowerCase() === "bearer" && rest.length === 0;
  if (!isBearer || token === "" || token.length > LONGEST_TOKEN) throw unauthenticated("malformed");
  return token;
}

const HEADER = "authorization";
