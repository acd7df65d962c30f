import { fetchJson, type Network, reasonOf } from "./fetch-json.ts";
import { KeySet } from "./key-set.ts";
import { plainUrl, providerUrlProblem, sameIssuer, wellKnown } from "./provider-url.ts";

/** Where the keys of a provider are. */
export interface KeySource {
  readonly issuer: string;
  /** Asked of the provider when absent. */
  readonly jwks_uri: string | undefined;
}

/**
 * The keys of a provider as they are now (AUTH-15). Where they are is asked anew each time: a
 * provider that could not say it, or has moved them, is followed.
 *
 * @throws Error with a reason that may be logged.
 */
export async function fetchKeys(
  source: KeySource,
  network: Network,
  warn: (message: string) => void,
): Promise<KeySet> {
  const uri = source.jwks_uri ?? (await discovered(source.issuer, network, warn));
  try {
    return new KeySet(await fetchJson(uri, network));
  } catch (error) {
    throw new Error(`${plainUrl(uri)}: ${reasonOf(error)}`);
  }
}

async function discovered(
  issuer: string,
  network: Network,
  warn: (message: string) => void,
): Promise<string> {
  const url = wellKnown(issuer, "openid-configuration");
  try {
    return keysNamedIn(await fetchJson(url, network), issuer);
  } catch (error) {
    const guess = wellKnown(issuer, "jwks.json");
    warn(
      `the OpenID provider does not say where its keys are (${url}: ${reasonOf(error)}); they are looked for at ${guess}`,
    );
    return guess;
  }
}

function keysNamedIn(document: unknown, issuer: string): string {
  const { issuer: named, jwks_uri } = (document ?? {}) as { issuer?: unknown; jwks_uri?: unknown };
  if (typeof named !== "string" || !sameIssuer(named, issuer)) {
    throw new Error("it is the document of another issuer");
  }
  if (typeof jwks_uri !== "string" || providerUrlProblem(jwks_uri) !== undefined) {
    throw new Error("its jwks_uri is no https URL");
  }
  return jwks_uri;
}
