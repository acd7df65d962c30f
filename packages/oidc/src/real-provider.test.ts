import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair } from "jose";
import { Provider } from "oidc-provider";
import { expect, test } from "vitest";
import { createTokenVerifier } from "./token-verifier.ts";

const AUDIENCE = "https://engine.example";

/** A provider as others run it, which gives its client tokens for the engine. */
async function startProvider(
  alg: "RS256" | "ES256" | "EdDSA",
): Promise<AsyncDisposable & { readonly issuer: string }> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { privateKey } = await generateKeyPair(alg, { extractable: true });
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: "ci",
        client_secret: "ci-secret",
        grant_types: ["client_credentials"],
        redirect_uris: [],
        response_types: [],
        id_token_signed_response_alg: alg,
      },
    ],
    enabledJWA: { idTokenSigningAlgValues: [alg] },
    jwks: { keys: [{ ...(await exportJWK(privateKey)), alg, use: "sig", kid: "k1" }] },
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => AUDIENCE,
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({
          scope: "",
          audience: AUDIENCE,
          accessTokenFormat: "jwt",
          accessTokenTTL: 600,
          jwt: { sign: { alg } },
        }),
      },
    },
  });
  const handle = provider.callback();
  server.on("request", (request, response) => void handle(request, response));
  return {
    issuer,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function tokenOf(issuer: string): Promise<string> {
  const response = await fetch(`${issuer}/token`, {
    method: "POST",
    headers: { authorization: `Basic ${Buffer.from("ci:ci-secret").toString("base64")}` },
    body: new URLSearchParams({ grant_type: "client_credentials" }),
  });
  const { access_token } = (await response.json()) as { access_token: string };
  return access_token;
}

test.each(["RS256", "ES256", "EdDSA"] as const)(
  "AUTH-14 AUTH-15 a real provider's token signed with %s is taken, by what its discovery says",
  async (alg) => {
    await using provider = await startProvider(alg);
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
    const token = await tokenOf(issuer);
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
