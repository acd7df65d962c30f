import { expect, test } from "vitest";
import { settingProblems } from "./setting-problems.ts";
import { type IssuerSettings, tokenSettings } from "./token-settings.ts";

const NONE: IssuerSettings = {
  mcpIssuer: undefined,
  mcpAudience: undefined,
  mcpJwksUri: undefined,
  oidc: undefined,
};

/** What the server of the same configuration takes. */
const OIDC = {
  issuer: "https://id.example",
  audience: ["engine", "tools"],
  jwks_uri: "https://id.example/keys",
  algorithms: ["RS256"],
  jwks_cache: 60,
  clock_skew: 5,
};

test("MCA-1 nothing is validated unless an issuer is set", () => {
  expect(tokenSettings(NONE)).toBeUndefined();
  expect(tokenSettings({ ...NONE, mcpAudience: "engine" })).toBeUndefined();
});

test("MCA-1 an issuer of the gateway's own stands for itself", () => {
  const settings = { ...NONE, mcpIssuer: "https://other.example" };
  const alone = { issuer: "https://other.example", skew: 30 };
  expect(tokenSettings(settings)).toEqual(alone);
  expect(tokenSettings({ ...settings, oidc: OIDC })).toEqual(alone);
});

test("MCA-1 where the server's provider is enabled it counts, but for what is set beside it", () => {
  const { clock_skew: skew, ...shared } = OIDC;
  expect(tokenSettings({ ...NONE, oidc: OIDC })).toEqual({ ...shared, skew });
  const own = { mcpAudience: "billing", mcpJwksUri: "https://id.example/other" };
  expect(tokenSettings({ ...NONE, ...own, oidc: OIDC })).toEqual({
    ...{ ...shared, skew },
    ...{ audience: "billing", jwks_uri: "https://id.example/other" },
  });
});

test("MCA-1 the server's issuer, named once more, keeps what goes with it", () => {
  const settings = { ...NONE, mcpIssuer: "https://id.example/", oidc: OIDC };
  expect(tokenSettings(settings)).toMatchObject({
    ...{ issuer: "https://id.example/", audience: ["engine", "tools"], algorithms: ["RS256"] },
  });
});

const problemsOf = (settings: Partial<Parameters<typeof settingProblems>[0]>) =>
  settingProblems({ ...NONE, mcpBaseUrl: undefined, ...settings });

test.each(["https://tools.example", "http://10.0.0.1:9000/a/b/", "HTTPS://Tools.Example/x"])(
  "MCA-1 the base URL may be %s",
  (mcpBaseUrl) => {
    expect(problemsOf({ mcpBaseUrl })).toEqual([]);
  },
);

test.each([
  ["tools.example", /absolute URL with http or https/],
  ["/billing", /absolute URL/],
  ["", /absolute URL/],
  ["ftp://tools.example", /http or https/],
  ["https://tools.example?x=1", /without query and fragment/],
  ["https://tools.example/#", /without query and fragment/],
  ["https://me:secret@tools.example", /without user and password/],
])("MCA-1 the base URL may not be %j", (mcpBaseUrl, message) => {
  const problems = problemsOf({ mcpBaseUrl });
  expect(problems).toEqual([
    { key: "gateway.mcp_base_url", message: expect.stringMatching(message) },
  ]);
  expect(JSON.stringify(problems)).not.toContain("secret");
});

test("MCA-1 what is wrong is told by the key where it was set, all at once", () => {
  expect(
    problemsOf({ mcpIssuer: "http://id.example", mcpAudience: "", mcpJwksUri: "ftp://x" }),
  ).toMatchObject([
    { key: "gateway.mcp_issuer", message: expect.stringMatching(/https URL, or http on a loop/) },
    { key: "gateway.mcp_audience" },
    { key: "gateway.mcp_jwks_uri" },
  ]);
  expect(problemsOf({ mcpAudience: "", mcpJwksUri: "nowhere" })).toMatchObject([
    { key: "gateway.mcp_audience" },
    { key: "gateway.mcp_jwks_uri" },
  ]);
  const oidc = { ...OIDC, issuer: "http://id.example", algorithms: ["none"] };
  expect(problemsOf({ oidc, mcpJwksUri: "http://id.example" })).toMatchObject([
    { key: "security.auth.oidc.issuer" },
    { key: "gateway.mcp_jwks_uri" },
    { key: "security.auth.oidc.algorithms" },
  ]);
  expect(problemsOf({ oidc: { ...OIDC, issuer: undefined } })).toEqual([
    { key: "security.auth.oidc.issuer", message: "needed where oidc is enabled" },
  ]);
});
