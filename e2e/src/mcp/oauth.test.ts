import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import {
  Client,
  type OAuthClientMetadata,
  type OAuthClientProvider,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import { expect, onTestFinished, test } from "vitest";
import { CliProcess } from "../harness/cli-process.ts";
import { type Engine, startEngine } from "../harness/engine.ts";
import { asAdmin, GUARDED, joining } from "../harness/guarded.ts";
import { type Authority, startAuthority } from "./authority.ts";

const EXAMPLE = fileURLToPath(new URL("../../../examples/src/billing.ts", import.meta.url));
const AUDIENCE = "https://engine.example";

/** A program that is given the address of some tools and nothing else, and the person before it. */
class Agent implements OAuthClientProvider {
  readonly redirectUrl = "http://127.0.0.1:9/callback";
  readonly clientMetadata: OAuthClientMetadata = {
    client_name: "an agent",
    redirect_uris: [this.redirectUrl],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
    scope: "openid",
  };
  #client: StoredOAuthClientInformation | undefined;
  #tokens: StoredOAuthTokens | undefined;
  #verifier = "";
  /** Where the person is sent. */
  asked: URL | undefined;

  clientInformation = () => this.#client;
  saveClientInformation = (client: StoredOAuthClientInformation) => {
    this.#client = client;
  };
  tokens = () => this.#tokens;
  saveTokens = (tokens: StoredOAuthTokens) => {
    this.#tokens = tokens;
  };
  saveCodeVerifier = (verifier: string) => {
    this.#verifier = verifier;
  };
  codeVerifier = () => this.#verifier;
  redirectToAuthorization = (url: URL) => {
    this.asked = url;
  };

  /** Connects; on the way somebody signs in. */
  async connect(url: string, authority: Authority, subject: string): Promise<Client> {
    const first = new StreamableHTTPClientTransport(new URL(url), { authProvider: this });
    const refused = await client()
      .connect(first)
      .catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(UnauthorizedError);
    if (!this.asked) throw new Error("nobody was asked to sign in");
    expect(this.asked.searchParams.get("code_challenge_method")).toBe("S256");
    await first.finishAuth(await authority.signIn(this.asked, subject));
    const connected = client();
    await connected.connect(
      new StreamableHTTPClientTransport(new URL(url), { authProvider: this }),
    );
    onTestFinished(() => connected.close());
    return connected;
  }
}

function client(): Client {
  return new Client({ name: "an agent", version: "1" });
}

/** A server that knows people by the provider, with a service of tools and a worker. */
async function guarded(authority: Authority): Promise<Engine> {
  const engine = await startEngine({
    workers: [],
    env: {
      ...GUARDED,
      ENGINE_SECURITY__AUTH__OIDC__ENABLED: "true",
      ENGINE_SECURITY__AUTH__OIDC__ISSUER: authority.issuer,
      ENGINE_SECURITY__AUTH__OIDC__AUDIENCE: AUDIENCE,
      ENGINE_SECURITY__AUTH__API_KEYS__ENABLED: "true",
    },
  });
  const admin = await asAdmin(engine);
  const source = await readFile(EXAMPLE, "utf8");
  await admin.post("/workflows", { source });
  await admin.post("/services", { name: "billing", namespaces: ["billing"], mcp_enabled: true });
  const user = { type: "user", issuer: authority.issuer, roles: ["operator"] };
  await admin.post("/admin/principals", { subject: "ada", ...user });
  engine.startWorker("one", await joining(engine.home));
  return engine;
}

async function calls(agent: Client): Promise<void> {
  const { tools } = await agent.listTools();
  expect(tools.map(({ name }) => name)).toContain("invoice");
  const billed = await agent.callTool({ name: "invoice", arguments: { id: "i1", cents: 50 } });
  expect(billed.structuredContent).toMatchObject({ state: "COMPLETED", output: { total: 62 } });
}

test("MCA-2 MCA-3 MCA-8 a client with an address alone finds the provider, registers, has a person sign in, and calls as that person", async () => {
  await using authority = await startAuthority(AUDIENCE);
  await using engine = await guarded(authority);
  await using gateway = new CliProcess(
    [
      ...["service", "start", "billing", "--port", "0", "--host", "127.0.0.1", "--mcp"],
      ...["--mcp-issuer", authority.issuer, "--mcp-audience", AUDIENCE],
    ],
    { cwd: engine.home.path, env: { ENGINE_SERVER_URL: engine.url } },
  );
  const [, url = ""] = await gateway.printed(/MCP on (http:\S+\/mcp)/);
  const agent = new Agent();
  const ada = await agent.connect(url, authority, "ada");
  await calls(ada);
  const admin = await asAdmin(engine);
  const { body } = await admin.get<{ items: object[] }>("/executions");
  expect(body.items).toMatchObject([{ started_by: { subject: "ada", issuer: authority.issuer } }]);
  // Somebody whom nobody let in has a token that is as good, and may do nothing with it.
  const eve = await new Agent().connect(url, authority, "eve");
  await expect(eve.listTools()).rejects.toMatchObject({ code: -32_000 });
  // Nothing of a token is in what the process has written.
  const { access_token = "" } = agent.tokens() ?? {};
  expect(access_token.split(".")).toHaveLength(3);
  expect(gateway.output).not.toContain(access_token.split(".")[2]);
});

test("MCA-9 the same at the server's own address of the service", async () => {
  await using authority = await startAuthority(AUDIENCE);
  await using engine = await guarded(authority);
  const url = `${engine.url}/services/billing/mcp`;
  const ada = await new Agent().connect(url, authority, "ada");
  await calls(ada);
});
