import { TokenRefusal } from "./token-refusal.ts";

export type JsonObject = Readonly<Record<string, unknown>>;

/** What a token says of itself, proven by nothing yet. */
export interface UnverifiedToken {
  readonly header: JsonObject;
  readonly claims: JsonObject;
}

/** Characters; all of them are ASCII where a token is well formed (AUTH-8). */
const MOST_CHARACTERS = 16 * 1024;

const COMPACT = /^([\w-]+)\.([\w-]+)\.[\w-]+$/;

/** @throws TokenRefusal `malformed` for what is no JWT in compact form. */
export function readToken(token: string): UnverifiedToken {
  const [, header, claims] = (token.length <= MOST_CHARACTERS && COMPACT.exec(token)) || [];
  if (header === undefined || claims === undefined) throw new TokenRefusal("shape");
  return { header: decoded(header), claims: decoded(claims) };
}

function decoded(part: string): JsonObject {
  const value = parsed(Buffer.from(part, "base64url"));
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new TokenRefusal("shape");
  }
  return value as JsonObject;
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(utf8.decode(bytes));
  } catch {
    throw new TokenRefusal("shape");
  }
}
