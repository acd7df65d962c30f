/** What tokens may be signed with (AUTH-14). None of them lets a holder of the public key sign. */
export const TOKEN_ALGORITHMS = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
] as const;
export type TokenAlgorithm = (typeof TOKEN_ALGORITHMS)[number];

export function isTokenAlgorithm(name: unknown): name is TokenAlgorithm {
  return TOKEN_ALGORITHMS.some((known) => known === name);
}
