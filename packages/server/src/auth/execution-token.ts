/** The text of execution tokens: a JWT of our own, behind a prefix that says what it is (AUTH-40). */
import { createHmac, timingSafeEqual } from "node:crypto";
import * as z from "zod";

/** Keys that are derived for execution tokens alone, by the ids of the keys that they come from. */
export interface TokenKeys {
  /** The one that signs. */
  readonly primary: { readonly id: string; readonly key: Uint8Array };
  /** Undefined for an id that is not in the ring. */
  of(id: string): Uint8Array | undefined;
}

export const TOKEN_PREFIX = "engine_et_";
const ISSUER = "engine";

/** What a token says. */
export interface ExecutionClaims {
  /** Subject of the principal, and its id. */
  readonly sub: string;
  readonly pid: string;
  /** What made the engine start the execution, as `schedule:<name>` or `hook:<name>`; null: somebody asked. */
  readonly on_behalf_of: string | null;
  readonly exec: string;
  /** The generation of the execution's claim. */
  readonly gen: number;
  /** Seconds since 1970. */
  readonly iat: number;
  readonly exp: number;
  readonly jti: string;
}

const Claims = z.strictObject({
  iss: z.literal(ISSUER),
  sub: z.string(),
  pid: z.string(),
  on_behalf_of: z.string().nullable(),
  exec: z.string(),
  gen: z.int(),
  iat: z.int(),
  exp: z.int(),
  jti: z.string(),
});

const Header = z.strictObject({ alg: z.literal("HS256"), typ: z.literal("JWT"), kid: z.string() });

export function signed(claims: ExecutionClaims, { primary: { id: kid, key } }: TokenKeys): string {
  const header = { alg: "HS256", typ: "JWT", kid };
  const text = `${encoded(header)}.${encoded({ iss: ISSUER, ...claims })}`;
  return `${TOKEN_PREFIX}${text}.${macOf(text, key).toString("base64url")}`;
}

/** What a token says; undefined unless a key of the ring has signed it. When it ends is not looked at. */
export function proven(token: string, keys: TokenKeys): ExecutionClaims | undefined {
  if (!token.startsWith(TOKEN_PREFIX)) return undefined;
  const parts = token.slice(TOKEN_PREFIX.length).split(".");
  const [head = "", body = "", mac = ""] = parts;
  if (parts.length !== 3) return undefined;
  const header = Header.safeParse(decoded(head));
  const key = header.success ? keys.of(header.data.kid) : undefined;
  if (!key) return undefined;
  const [right, sent] = [macOf(`${head}.${body}`, key), Buffer.from(mac, "base64url")];
  if (right.length !== sent.length || !timingSafeEqual(right, sent)) return undefined;
  const claims = Claims.safeParse(decoded(body));
  if (!claims.success) return undefined;
  const { iss: _, ...rest } = claims.data;
  return rest;
}

function macOf(text: string, key: Uint8Array): Buffer {
  return createHmac("sha256", key).update(text).digest();
}

function encoded(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

function decoded(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, "base64url").toString());
  } catch {
    return undefined;
  }
}
