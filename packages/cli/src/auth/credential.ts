/** What is kept for a server: a key as it was given, or a login by the device flow. */
export type Credential = StoredKey | StoredLogin;

export interface StoredKey {
  readonly kind: "api_key";
  readonly api_key: string;
}

export interface StoredLogin {
  readonly kind: "oidc";
  readonly issuer: string;
  readonly client_id: string;
  readonly access_token: string;
  /** Null where the provider gave none: the login ends with the access token. */
  readonly refresh_token: string | null;
  /** Of the access token, in milliseconds since 1970; null where nothing says it. */
  readonly expires_at: number | null;
}

/** What a file says of a server; undefined when that is no credential. */
export function readCredential(value: unknown): Credential | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const entry = value as Readonly<Record<string, unknown>>;
  if (entry["kind"] === "api_key")
    return isText(entry["api_key"]) ? (value as StoredKey) : undefined;
  const isLogin =
    entry["kind"] === "oidc" &&
    isText(entry["issuer"]) &&
    isText(entry["client_id"]) &&
    isText(entry["access_token"]) &&
    (entry["refresh_token"] === null || isText(entry["refresh_token"])) &&
    (entry["expires_at"] === null || Number.isFinite(entry["expires_at"]));
  return isLogin ? (value as StoredLogin) : undefined;
}

function isText(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}
