import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair } from "jose";
import { Provider } from "oidc-provider";

export interface RealProvider extends AsyncDisposable {
  readonly issuer: string;
  /** A token that the provider made for its client `ci`, for the audience it was started with. */
  token(): Promise<string>;
}

/** For tests: an OpenID provider as others run it, on this machine, which signs as told. */
export async function startRealProvider(
  audience: string,
  alg: "RS256" | "ES256" | "EdDSA" = "RS256",
): Promise<RealProvider> {
  const server = createServer();
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
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
        defaultResource: () => audience,
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({
          scope: "",
          audience,
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
    async token() {
      const response = await fetch(`${issuer}/token`, {
        method: "POST",
        headers: { authorization: `Basic ${Buffer.from("ci:ci-secret").toString("base64")}` },
        body: new URLSearchParams({ grant_type: "client_credentials" }),
      });
      const { access_token } = (await response.json()) as { access_token: string };
      return access_token;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => void server.close(resolve));
    },
  };
}
