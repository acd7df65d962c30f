/** For tests: an OpenID provider on loopback that others run too, with the device flow. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type KoaContextWithOIDC, Provider } from "oidc-provider";

export const CLIENT_ID = "engine-cli";
const RESOURCE = "https://engine.example";
const SCOPE = "openid profile offline_access";

export interface DeviceProvider extends AsyncDisposable {
  readonly issuer: string;
  /** Kinds of grants that were answered with tokens, in order. */
  readonly grants: readonly string[];
  /** What a user does who enters the code and agrees. */
  approve(user_code: string): Promise<void>;
  /** What a user does who enters the code and declines. */
  deny(user_code: string): Promise<void>;
  /** Ends all logins, as an administrator of the provider may. */
  revokeAll(): Promise<void>;
}

interface ProviderParts {
  /** Whether logins get refresh tokens; each serves once. */
  readonly refreshes?: boolean;
  readonly isOpaque?: boolean;
}

/** Access tokens of its logins serve for 600 seconds, refreshed ones for an hour more. */
export async function startDeviceProvider({
  refreshes = true,
  isOpaque = false,
}: ProviderParts = {}): Promise<DeviceProvider> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: CLIENT_ID,
        token_endpoint_auth_method: "none",
        application_type: "native",
        grant_types: ["urn:ietf:params:oauth:grant-type:device_code", "refresh_token"],
        redirect_uris: [],
        response_types: [],
      },
    ],
    cookies: { keys: ["test"] },
    ttl: {
      AccessToken: (_, token) => token.resourceServer?.accessTokenTTL ?? 600,
      DeviceCode: 600,
      IdToken: 600,
      RefreshToken: 86_400,
      Grant: 86_400,
    },
    findAccount: (_, sub) => ({ accountId: sub, claims: () => ({ sub, name: "Ada" }) }),
    issueRefreshToken: () => refreshes,
    rotateRefreshToken: true,
    features: {
      devInteractions: { enabled: false },
      deviceFlow: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => RESOURCE,
        useGrantedResource: () => true,
        getResourceServerInfo: ({ oidc }) => ({
          scope: "",
          audience: RESOURCE,
          accessTokenTTL: oidc.params?.["grant_type"] === "refresh_token" ? 4200 : 600,
          accessTokenFormat: isOpaque ? "opaque" : "jwt",
        }),
      },
    },
  });
  const grants: string[] = [];
  provider.on("grant.success", (context: KoaContextWithOIDC) => {
    grants.push(String(context.oidc.params?.["grant_type"]));
  });
  const handle = provider.callback();
  server.on("request", (request, response) => void handle(request, response));
  const granted: InstanceType<typeof provider.Grant>[] = [];

  async function codeOf(user_code: string) {
    const code = await provider.DeviceCode.findByUserCode(user_code.replaceAll("-", ""));
    if (!code) throw new Error(`the provider knows no code ${user_code}`);
    return code;
  }

  return {
    issuer,
    grants,
    async approve(user_code) {
      const code = await codeOf(user_code);
      const grant = new provider.Grant({ accountId: "ada", clientId: CLIENT_ID });
      grant.addOIDCScope(SCOPE);
      grant.addResourceScope(RESOURCE, "");
      granted.push(grant);
      Object.assign(code, {
        accountId: "ada",
        grantId: await grant.save(),
        scope: SCOPE,
        claims: {},
        authTime: Math.floor(Date.now() / 1000),
        resource: RESOURCE,
      });
      await code.save();
    },
    async deny(user_code) {
      const code = await codeOf(user_code);
      Object.assign(code, { error: "access_denied", errorDescription: "the user declined" });
      await code.save();
    },
    async revokeAll() {
      for (const grant of granted) await grant.destroy();
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
