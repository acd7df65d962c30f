/** An OpenID provider as others run it, on this machine, where clients register themselves and people sign in. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair } from "jose";
import { Provider } from "oidc-provider";

export interface Authority extends AsyncDisposable {
  readonly issuer: string;
  /** Signs somebody in at the address a client was sent to; with what the client is sent back. */
  signIn(address: URL, subject: string): Promise<URLSearchParams>;
}

/** @param audience What its access tokens are for. */
export async function startAuthority(audience: string): Promise<Authority> {
  const server = createServer();
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { privateKey } = await generateKeyPair("RS256", { extractable: true });
  const provider = new Provider(issuer, {
    jwks: { keys: [{ ...(await exportJWK(privateKey)), alg: "RS256", use: "sig", kid: "k1" }] },
    cookies: { keys: ["of this test"] },
    clientDefaults: { token_endpoint_auth_method: "none" },
    features: {
      // Whatever is typed is a sign-in.
      devInteractions: { enabled: true },
      registration: { enabled: true },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({
          ...{ scope: "openid offline_access", audience, accessTokenTTL: 600 },
          ...{ accessTokenFormat: "jwt", jwt: { sign: { alg: "RS256" } } },
        }),
      },
    },
  });
  const handle = provider.callback();
  server.on("request", (request, response) => void handle(request, response));
  return {
    issuer,
    signIn: (address, subject) => new Browser(issuer).signIn(address, subject),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => void server.close(resolve));
    },
  };
}

/** Follows the provider's pages with its cookies, as a person would, until they lead elsewhere. */
class Browser {
  readonly #issuer: string;
  readonly #cookies = new Map<string, string>();

  constructor(issuer: string) {
    this.#issuer = issuer;
  }

  async signIn(address: URL, subject: string): Promise<URLSearchParams> {
    let at = address;
    for (let page = 0; page < 10; page++) {
      const response = await this.#open(at);
      const next = response.headers.get("location");
      if (next !== null) {
        at = new URL(next, at);
        if (at.origin !== this.#issuer) return at.searchParams;
        continue;
      }
      at = await this.#answer(at, await response.text(), subject);
      if (at.origin !== this.#issuer) return at.searchParams;
    }
    throw new Error(`signing in led nowhere but to ${at}`);
  }

  /** Sends the form of a page; where it leads. */
  async #answer(at: URL, html: string, subject: string): Promise<URL> {
    const action = /<form[^>]* action="([^"]+)"/.exec(html)?.[1];
    const prompt = /name="prompt" value="(\w+)"/.exec(html)?.[1];
    if (action === undefined || prompt === undefined) throw new Error(`no form:\n${html}`);
    const body = new URLSearchParams({ prompt, login: subject, password: "any" });
    const response = await this.#open(new URL(action, at), { method: "POST", body });
    return new URL(response.headers.get("location") ?? "", at);
  }

  async #open(url: URL, request: RequestInit = {}): Promise<Response> {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const response = await fetch(url, { ...request, redirect: "manual", headers: { cookie } });
    for (const set of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      this.#cookies.set(name, value);
    }
    return response;
  }
}
