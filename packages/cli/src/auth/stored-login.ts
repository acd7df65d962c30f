import type { TokenEndpointResponse } from "openid-client";
import type { StoredLogin } from "./credential.ts";

/** Whose tokens they are, and the refresh token that goes on where no new one came. */
type Known = Pick<StoredLogin, "issuer" | "client_id" | "refresh_token">;

/** What is kept of a provider's answer that came at `now`. */
export function storedLogin(tokens: TokenEndpointResponse, known: Known, now: number): StoredLogin {
  const { access_token, refresh_token, expires_in } = tokens;
  const lasting = expires_in === undefined ? undefined : now + expires_in * 1000;
  return {
    kind: "oidc",
    issuer: known.issuer,
    client_id: known.client_id,
    access_token,
    refresh_token: refresh_token ?? known.refresh_token,
    expires_at: instant(expiryOf(access_token) ?? lasting),
  };
}

/** `exp` of a JWT in milliseconds, by which the server goes; undefined for any other token. */
function expiryOf(token: string): number | undefined {
  const [, payload = ""] = token.split(".");
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, "base64url").toString("utf8"));
    const { exp } = (claims ?? {}) as { exp?: unknown };
    return typeof exp === "number" ? exp * 1000 : undefined;
  } catch {
    return undefined;
  }
}

/** Null for what no date can say, too: it lies further ahead than anybody keeps a login. */
function instant(ms: number | undefined): number | null {
  return ms === undefined || Number.isNaN(new Date(ms).getTime()) ? null : ms;
}
