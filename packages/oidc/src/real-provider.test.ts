import { expect, test } from "vitest";
import { startRealProvider } from "./testing/real-provider.ts";
import { createTokenVerifier } from "./token-verifier.ts";

const AUDIENCE = "https://engine.example";

test.each(["RS256", "ES256", "EdDSA"] as const)(
  "AUTH-14 AUTH-15 a real provider's token signed with %s is taken, by what its discovery says",
  async (alg) => {
    await using provider = await startRealProvider(AUDIENCE, alg);
    const { issuer } = provider;
    const warnings: string[] = [];
    const verifierFor = (audience: string) =>
      createTokenVerifier({
        issuer,
        audience,
        skew: 30,
        fetch,
        clock: Date.now,
        warn: (message) => void warnings.push(message),
      });
    const token = await provider.token();
    const verified = await verifierFor(AUDIENCE).verify(token);
    expect(verified).toMatchObject({ subject: "ci", issuer, claims: { aud: AUDIENCE } });
    expect(verified.expires_at).toBeGreaterThan(Date.now());
    await expect(verifierFor("https://other.example").verify(token)).rejects.toMatchObject({
      reason: "invalid",
      check: "audience",
    });
    expect(warnings).toEqual([]);
  },
);
