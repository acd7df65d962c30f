import { EngineError } from "@engine/contract";
import { expect, test } from "vitest";
import { guardedServer } from "./testing/guarded-server.ts";

/** What a start with this configuration says, a line each; none where it starts. */
async function problems(auth: object, config: object = {}): Promise<readonly string[]> {
  try {
    await guardedServer({ auth, config });
    return [];
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    return error.message.split("\n");
  }
}

const OIDC = { enabled: true, issuer: "https://id.example", audience: "engine" };

test.each([
  [{}, []],
  [{ enabled: true }, []],
  [{ enabled: false }, []],
  [{ oidc: OIDC }, []],
  [{ enabled: false, api_keys: { enabled: false } }, []],
  [{ enabled: false, api_keys: { enabled: true } }, [/api_keys.enabled: true contradicts/]],
  [{ enabled: false, oidc: OIDC }, [/oidc.enabled: true contradicts/]],
  [{ enabled: true, api_keys: { enabled: false } }, [/neither api_keys nor oidc/]],
])("AUTH-1 the switches %j are understood or refused", async (auth, expected) => {
  const found = await problems(auth);
  expect(found).toEqual(expected.map((pattern) => expect.stringMatching(pattern)));
});

test("AUTH-3 all that is wrong is told at once, a line each, before anybody is served", async () => {
  const found = await problems({
    oidc: {
      ...{ enabled: true, issuer: "http://id.example", jwks_uri: "ftp://x" },
      algorithms: ["RS256", "none", "HS256"],
      ...{ default_user_roles: ["viewer", "nobody"], roles_claim: "groups" },
      role_mapping: { staff: "operator", boss: "chief" },
    },
  });
  expect(found).toEqual([
    expect.stringMatching(/^engine\.security\.auth\.oidc\.audience: needed/),
    expect.stringMatching(/^engine\.security\.auth\.oidc\.issuer: expected an https URL/),
    expect.stringMatching(/^engine\.security\.auth\.oidc\.jwks_uri: expected an https URL/),
    expect.stringMatching(/^engine\.security\.auth\.oidc\.algorithms: "none"/),
    expect.stringMatching(/^engine\.security\.auth\.oidc\.algorithms: "HS256"/),
    'engine.security.auth.oidc.default_user_roles: there is no role "nobody"',
    'engine.security.auth.oidc.role_mapping: there is no role "chief"',
  ]);
});

test("AUTH-3 an issuer on this machine needs no https, one that is missing is named", async () => {
  expect(await problems({ oidc: { ...OIDC, issuer: "http://127.0.0.1:9" } })).toEqual([]);
  expect(await problems({ oidc: { enabled: true } })).toEqual([
    expect.stringMatching(/oidc\.issuer: needed/),
    expect.stringMatching(/oidc\.audience: needed/),
  ]);
});

test("AUTH-3 every web page may use the server only with authorization on", async () => {
  const server = { port: 0, cors_allow_origins: ["*"] };
  expect(await problems({}, { server })).toEqual([
    expect.stringMatching(/cors_allow_origins: "\*"/),
  ]);
  expect(await problems({ enabled: true }, { server })).toEqual([]);
});
