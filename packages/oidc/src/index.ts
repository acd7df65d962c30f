/** What a process needs to take tokens of an OpenID provider; every line here is public. */
export type { SetTimer, TokenFetch } from "./fetch-json.ts";
export { providerUrlProblem, sameIssuer, wellKnown } from "./provider-url.ts";
export { TOKEN_ALGORITHMS, type TokenAlgorithm } from "./token-algorithms.ts";
export { type FailedCheck, TokenRefusal, type TokenRefusalReason } from "./token-refusal.ts";
export {
  createTokenVerifier,
  type TokenVerifier,
  type TokenVerifierOptions,
  type VerifiedToken,
} from "./token-verifier.ts";
export {
  type VerifierProblem,
  type VerifierSettings,
  verifierProblems,
} from "./verifier-problems.ts";
