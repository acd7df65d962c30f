import { type VerifierProblem, verifierProblems } from "@engine/oidc";
import { baseUrlProblem } from "./base-url.ts";
import type { GatewaySettings } from "./gateway-options.ts";
import { type IssuerSettings, tokenSettings } from "./token-settings.ts";

type Asked = IssuerSettings & Pick<GatewaySettings, "mcpBaseUrl">;

/** A setting that cannot be used. */
export interface SettingProblem {
  /** Its key below `[engine]`, such as `gateway.mcp_issuer`. */
  readonly key: string;
  /** What was expected and what came; the key is not repeated. */
  readonly message: string;
}

/** Stands in for an issuer that nobody has named, so that what goes with it is looked at all the same. */
const UNSET = "https://unset.invalid";

/** All that keeps settings of MCP from being used, for a start that tells everything at once (MCA-1). */
export function settingProblems(settings: Asked): readonly SettingProblem[] {
  const { mcpAudience: audience, mcpJwksUri: jwks_uri, mcpBaseUrl, oidc } = settings;
  const tokens = tokenSettings(settings) ?? { issuer: UNSET, audience, jwks_uri };
  const problems = verifierProblems(tokens).map(({ path, message }) => ({
    key: isOwn(path, settings) ? `gateway.mcp_${path}` : `security.auth.oidc.${path}`,
    message,
  }));
  if (tokens.issuer === UNSET && oidc) {
    const message = "needed where oidc is enabled";
    problems.push({ key: "security.auth.oidc.issuer", message });
  }
  const wrong = mcpBaseUrl === undefined ? undefined : baseUrlProblem(mcpBaseUrl);
  return wrong === undefined
    ? problems
    : [...problems, { key: "gateway.mcp_base_url", message: wrong }];
}

/** Whether it is the gateway's own setting that counts, rather than the server's. */
function isOwn(path: VerifierProblem["path"], settings: Asked): boolean {
  const { mcpIssuer: issuer, mcpAudience: audience, mcpJwksUri: jwks_uri } = settings;
  return { issuer, audience, jwks_uri, algorithms: undefined }[path] !== undefined;
}
