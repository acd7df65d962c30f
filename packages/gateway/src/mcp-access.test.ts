import { EngineError } from "@engine/contract";
import { expect, test } from "vitest";
import { McpAccess, type McpAccessOptions } from "./mcp-access.ts";
import { AUDIENCE, ISSUER, ScriptedIssuer, signingKey } from "./testing/scripted-issuer.ts";
import { systemTiming } from "./timing.ts";

const BASE = "https://tools.example/billing";
const SECOND = 1000;
const HOUR = 3600 * SECOND;

interface Tried {
  readonly access: McpAccess;
  readonly warnings: string[];
  /** The owner, or the code or failed check of what is thrown, of a request with a token. */
  outcome(token: string | Promise<string>): Promise<string | undefined>;
}

function accessTo(
  issuer: ScriptedIssuer,
  settings: Partial<McpAccessOptions["settings"]> = {},
): Tried {
  const warnings: string[] = [];
  const access = new McpAccess({
    service: "billing",
    settings: {
      mcp: undefined,
      mcpIssuer: ISSUER,
      mcpAudience: AUDIENCE,
      mcpJwksUri: undefined,
      oidc: undefined,
      ...settings,
    },
    base: () => BASE,
    fetch: issuer.fetch,
    clock: issuer.clock,
    setTimer: systemTiming.setTimer,
    log: { warn: (_, message) => void warnings.push(message) },
  });
  const outcome = async (token: string | Promise<string>) => {
    const authorization = [`Bearer ${await token}`];
    try {
      return (await access.check({ headersDistinct: { authorization } }))?.owner;
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      return String(error.details?.["check"] ?? error.code);
    }
  };
  return { access, warnings, outcome };
}

const owner = (subject: string) => JSON.stringify([ISSUER, subject]);

test("MCP-16 MCA-2 a request is its subject's at its issuer, however the scheme is spelled", async () => {
  const issuer = await ScriptedIssuer.start();
  const { access, outcome } = accessTo(issuer);
  expect(await outcome(issuer.token())).toBe(owner("ada"));
  expect(await outcome(issuer.token({ iss: `${ISSUER}/` }))).toBe(owner("ada"));
  expect(await outcome(issuer.token({ sub: "bob" }))).toBe(owner("bob"));
  const authorization = [`bearer   ${await issuer.token()} `];
  expect(await access.check({ headersDistinct: { authorization } })).toEqual({
    owner: owner("ada"),
  });
});

test("MCA-6 without an audience a token for anybody is taken, and that is warned of once", async () => {
  const issuer = await ScriptedIssuer.start();
  const { access, warnings, outcome } = accessTo(issuer, { mcpAudience: undefined });
  access.warn();
  expect(warnings).toEqual([expect.stringMatching(/^no audience is set/)]);
  for (const aud of ["another", ["one", "more"], undefined]) {
    expect(await outcome(issuer.token({ aud }))).toBe(owner("ada"));
  }
  expect(warnings).toHaveLength(1);
});

test("MCA-6 what was off at start is warned of when the first request comes", async () => {
  const issuer = await ScriptedIssuer.start();
  const { warnings, outcome } = accessTo(issuer, { mcpAudience: undefined });
  expect(warnings).toEqual([]);
  await outcome(issuer.token());
  expect(warnings).toHaveLength(1);
});

test("MCA-6 clocks may differ by 30 seconds", async () => {
  const issuer = await ScriptedIssuer.start();
  const { outcome } = accessTo(issuer);
  const { seconds } = issuer;
  expect(await outcome(issuer.token({ exp: seconds - 29 }))).toBe(owner("ada"));
  expect(await outcome(issuer.token({ exp: seconds - 30 }))).toBe("expired");
  expect(await outcome(issuer.token({ nbf: seconds + 30 }))).toBe(owner("ada"));
  expect(await outcome(issuer.token({ nbf: seconds + 31 }))).toBe("not_before");
  expect(await outcome(issuer.token({ iat: seconds + 31 }))).toBe("issued_at");
});

test("MCA-7 keys serve an hour, and a key that the issuer has just made is fetched", async () => {
  const issuer = await ScriptedIssuer.start();
  const { outcome } = accessTo(issuer);
  const old = await issuer.token();
  expect(await outcome(old)).toBe(owner("ada"));
  await issuer.rotate();
  expect(await outcome(old)).toBe(owner("ada"));
  expect(await outcome(issuer.token())).toBe(owner("ada"));
  // With the keys that were fetched the old one is gone.
  expect(await outcome(old)).toBe("signature");
  const count = issuer.asked.length;
  const stranger = await signingKey("made-up");
  for (let n = 0; n < 5; n++) {
    expect(await outcome(issuer.token({}, stranger))).toBe("signature");
  }
  expect(issuer.asked).toHaveLength(count);
  issuer.now += 30 * SECOND;
  expect(await outcome(issuer.token({}, stranger))).toBe("signature");
  expect(issuer.asked.length).toBeGreaterThan(count);
});

test("MCA-7 while the issuer is away known keys go on for a day, and then nobody can be let in", async () => {
  const issuer = await ScriptedIssuer.start();
  const { outcome, warnings } = accessTo(issuer);
  expect(await outcome(issuer.token())).toBe(owner("ada"));
  issuer.isAway = true;
  issuer.now += 2 * HOUR;
  expect(await outcome(issuer.token())).toBe(owner("ada"));
  expect(await outcome(issuer.token({}, await signingKey("new")))).toBe("auth_unavailable");
  issuer.now += 23 * HOUR;
  expect(await outcome(issuer.token())).toBe("auth_unavailable");
  issuer.isAway = false;
  issuer.now += 5 * SECOND;
  expect(await outcome(issuer.token())).toBe(owner("ada"));
  expect(warnings.join("\n")).toMatch(/keys of the OpenID provider cannot be fetched/);
});

test("MCA-5 keys are where --mcp-jwks-uri says, else where the issuer says, else at jwks.json, with a warning", async () => {
  const issuer = await ScriptedIssuer.start();
  const given = accessTo(issuer, { mcpJwksUri: `${ISSUER}/keys` });
  expect(await given.outcome(issuer.token())).toBe(owner("ada"));
  expect(issuer.asked).toEqual([`${ISSUER}/keys`]);
  const found = accessTo(issuer);
  expect(await found.outcome(issuer.token())).toBe(owner("ada"));
  expect([...given.warnings, ...found.warnings]).toEqual([]);
  issuer.hasDiscovery = false;
  const guessed = accessTo(issuer);
  expect(await guessed.outcome(issuer.token())).toBe(owner("ada"));
  expect(issuer.asked.at(-1)).toBe(`${ISSUER}/.well-known/jwks.json`);
  expect(guessed.warnings).toEqual([expect.stringContaining("/.well-known/jwks.json")]);
});

test("MCA-1 without an issuer no token is looked at, and nothing is fetched", async () => {
  const issuer = await ScriptedIssuer.start();
  const { access, outcome } = accessTo(issuer, { mcpIssuer: undefined, mcpAudience: undefined });
  expect(access.issuer).toBeUndefined();
  expect(await access.check({ headersDistinct: {} })).toBeUndefined();
  expect(await outcome("nonsense")).toBeUndefined();
  expect(access.metadata()).toBeUndefined();
  expect(issuer.asked).toEqual([]);
});

test("MCA-1 an audience that no issuer goes with is warned of", async () => {
  const { access, warnings } = accessTo(await ScriptedIssuer.start(), { mcpIssuer: undefined });
  access.warn();
  expect(warnings).toEqual([expect.stringMatching(/^no issuer is set: the gateway looks at no/)]);
});

test("GW-22 with MCP off by a flag what is set for its tokens means nothing", async () => {
  const { access } = accessTo(await ScriptedIssuer.start(), { mcp: false });
  expect([access.issuer, access.metadata()]).toEqual([undefined, undefined]);
});

test("MCA-3 the metadata names the address of MCP, its issuer and the service", async () => {
  const { access } = accessTo(await ScriptedIssuer.start());
  expect(access.metadata()).toEqual({
    resource: "https://tools.example/billing/mcp",
    authorization_servers: [ISSUER],
    bearer_methods_supported: ["header"],
    resource_name: "billing",
  });
});
