import { providerUrlProblem } from "./provider-url.ts";
import { isTokenAlgorithm, TOKEN_ALGORITHMS } from "./token-algorithms.ts";

/** Which provider's tokens are taken, as configured. */
export interface VerifierSettings {
  /** URL of the provider, as its tokens name it in `iss`. */
  readonly issuer: string;
  /** Of these a token has to name one in `aud`; not looked at when absent (MCA-6). */
  readonly audience?: string | readonly string[] | undefined;
  /** Where the keys are; asked of the provider when absent. */
  readonly jwks_uri?: string | undefined;
  /** All of {@link TOKEN_ALGORITHMS} when absent. */
  readonly algorithms?: readonly string[] | undefined;
}

export interface VerifierProblem {
  readonly path: keyof VerifierSettings;
  /** What was expected and what came; the path is not repeated. */
  readonly message: string;
}

/** All that keeps settings from being used, for a start that tells everything at once (AUTH-3). */
export function verifierProblems(settings: VerifierSettings): readonly VerifierProblem[] {
  return [
    ...issuerProblems(settings.issuer),
    ...audienceProblems(settings.audience),
    ...jwksProblems(settings.jwks_uri),
    ...algorithmProblems(settings.algorithms),
  ];
}

function issuerProblems(issuer: string): readonly VerifierProblem[] {
  const message =
    providerUrlProblem(issuer) ??
    (/[?#]/.test(issuer) ? "expected a URL without query and fragment" : undefined);
  return message === undefined ? [] : [{ path: "issuer", message }];
}

function jwksProblems(uri: string | undefined): readonly VerifierProblem[] {
  const message = uri === undefined ? undefined : providerUrlProblem(uri);
  return message === undefined ? [] : [{ path: "jwks_uri", message }];
}

/** An empty audience would pass for one that is not looked at. */
function audienceProblems(audience: VerifierSettings["audience"]): readonly VerifierProblem[] {
  const isNamed = audience === undefined || (audience.length > 0 && !audience.includes(""));
  if (isNamed || (typeof audience === "string" && audience !== "")) return [];
  return [{ path: "audience", message: "expected at least one audience, none of them empty" }];
}

function algorithmProblems(algorithms: readonly string[] | undefined): readonly VerifierProblem[] {
  if (algorithms === undefined) return [];
  if (algorithms.length === 0) {
    return [{ path: "algorithms", message: "expected at least one algorithm" }];
  }
  return algorithms
    .filter((name) => !isTokenAlgorithm(name))
    .map((name) => ({ path: "algorithms", message: algorithmProblem(name) }));
}

function algorithmProblem(name: string): string {
  const shown = JSON.stringify(name);
  if (/^none$/i.test(name)) return `${shown} would take tokens that nobody signed`;
  if (/^hs\d+$/i.test(name)) return `${shown} would let everybody sign who can check`;
  return `expected some of ${TOKEN_ALGORITHMS.join(", ")}; got ${shown}`;
}
