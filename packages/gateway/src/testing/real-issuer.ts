import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair } from "jose";
import { Provider } from "oidc-provider";

export interface RealIssuer extends AsyncDisposable {
  readonly issuer: string;
  /** A token that the provider made for its client `ci`, for the audience it was started with. */
  token(): Promise<string>;
}

/** For tests: an OpenID provider as others run it, on this machine. */
export async function startRealIssuer(audience: string): Promise<RealIssuer> {
  const server = createServer();
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { privateKey } = await generateKeyPair("RS256", { extractable: true });
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: "ci",
        client_secret: "ci-secret",
        grant_types: ["client_credentials"],
        redirect_uris: [],
        response_types: [],
      },
    ],
    jwks: { keys: [{ ...(await exportJWK(privateKey)), alg: "RS256", use: "sig", kid: "k1" }] },
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
          jwt: { sign: { alg: "RS256" } },
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
