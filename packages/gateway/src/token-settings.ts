import type { Config } from "@engine/contract";
import { sameIssuer, type VerifierSettings } from "@engine/oidc";

type OidcTable = Config["security"]["auth"]["oidc"];

/** What a server and its gateways share of a provider: they are one resource (MCA-8). */
export type SharedProvider = Pick<OidcTable, "issuer"> &
  Partial<Pick<OidcTable, "audience" | "jwks_uri" | "algorithms" | "jwks_cache" | "clock_skew">>;

/** What is set of the tokens that `/mcp` takes. */
export interface IssuerSettings {
  /** Without one tokens are left to the server. */
  readonly mcpIssuer: string | undefined;
  readonly mcpAudience: string | undefined;
  readonly mcpJwksUri: string | undefined;
  /** `[engine.security.auth.oidc]` where that is enabled. */
  readonly oidc: SharedProvider | undefined;
}

/** Which tokens `/mcp` takes. */
export interface TokenSettings extends VerifierSettings {
  /** Seconds; the verifier's own when absent. */
  readonly jwks_cache?: number;
  /** Seconds by which clocks may differ. */
  readonly skew: number;
}

const SKEW_SECONDS = 30;

/**
 * Which tokens `/mcp` takes, by the gateway's own settings and, where they leave something open, by
 * the provider of the server (MCA-1). Of another issuer nothing of the server's provider holds: its
 * keys would verify no token.
 *
 * @returns Undefined without an issuer: the server alone looks at tokens.
 */
export function tokenSettings({
  mcpIssuer,
  mcpAudience,
  mcpJwksUri,
  oidc,
}: IssuerSettings): TokenSettings | undefined {
  const issuer = mcpIssuer ?? oidc?.issuer;
  if (issuer === undefined) return undefined;
  const isShared = oidc?.issuer !== undefined && sameIssuer(issuer, oidc.issuer);
  const shared: Partial<SharedProvider> = isShared ? oidc : {};
  const { jwks_cache, clock_skew = SKEW_SECONDS } = shared;
  return {
    issuer,
    audience: mcpAudience ?? shared.audience,
    jwks_uri: mcpJwksUri ?? shared.jwks_uri,
    algorithms: shared.algorithms,
    ...(jwks_cache !== undefined && { jwks_cache }),
    skew: clock_skew,
  };
}
