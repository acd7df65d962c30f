import { EngineError } from "@engine/contract";
import { expect, test } from "vitest";
import { ISSUER, ScriptedProvider, signingKey } from "./testing/scripted-provider.ts";
import { TokenRefusal } from "./token-refusal.ts";
import type { TokenVerifier } from "./token-verifier.ts";

const SECOND = 1000;
const HOUR = 3600 * SECOND;
const DISCOVERY = `${ISSUER}/.well-known/openid-configuration`;
const GUESS = `${ISSUER}/.well-known/jwks.json`;

/** Whose a token is, the reason it is refused, or the code of what stood in the way. */
async function outcome(verifier: TokenVerifier, token: string | Promise<string>): Promise<string> {
  try {
    return (await verifier.verify(await token)).subject;
  } catch (error) {
    if (error instanceof TokenRefusal) return error.reason;
    if (error instanceof EngineError) return error.code;
    throw error;
  }
}

test("AUTH-15 nothing is fetched before the first token, and the keys serve an hour", async () => {
  const provider = await ScriptedProvider.start();
  const verifier = provider.verifier();
  expect(provider.asked).toEqual([]);
  expect(await outcome(verifier, provider.token())).toBe("ada");
  expect(provider.asked).toEqual([DISCOVERY, `${ISSUER}/keys`]);
  provider.now += HOUR - 1;
  expect(await outcome(verifier, provider.token())).toBe("ada");
  expect(provider.fetches).toBe(1);
  provider.now += 1;
  expect(await outcome(verifier, provider.token())).toBe("ada");
  expect(provider.asked).toEqual([DISCOVERY, `${ISSUER}/keys`, DISCOVERY, `${ISSUER}/keys`]);
  expect(provider.warnings).toEqual([]);
});

test("AUTH-15 `jwks_cache` says how long the keys serve", async () => {
  const provider = await ScriptedProvider.start();
  const verifier = provider.verifier({ jwks_cache: 10 });
  for (const after of [0, 9, 1, 9, 1]) {
    provider.now += after * SECOND;
    expect(await outcome(verifier, provider.token())).toBe("ada");
  }
  expect(provider.fetches).toBe(3);
});

test("AUTH-15 a key that the provider has withdrawn verifies nothing once the keys are fetched again", async () => {
  const provider = await ScriptedProvider.start();
  const verifier = provider.verifier();
  expect(await outcome(verifier, provider.token())).toBe("ada");
  provider.publish((await signingKey("second")).jwk);
  provider.now += HOUR;
  expect(await outcome(verifier, provider.token())).toBe("invalid");
});

test("AUTH-15 with `jwks_uri` configured no discovery is asked for", async () => {
  const provider = await ScriptedProvider.start();
  const verifier = provider.verifier({ jwks_uri: `${ISSUER}/keys` });
  expect(await outcome(verifier, provider.token())).toBe("ada");
  expect(provider.asked).toEqual([`${ISSUER}/keys`]);
});

test("AUTH-15 one slash at the end of the issuer is dropped for the address of its discovery", async () => {
  const provider = await ScriptedProvider.start();
  provider.answer("/.well-known/openid-configuration", {
    issuer: `${ISSUER}/`,
    jwks_uri: `${ISSUER}/keys`,
  });
  expect(await outcome(provider.verifier({ issuer: `${ISSUER}/` }), provider.token())).toBe("ada");
  expect(provider.asked).toEqual([DISCOVERY, `${ISSUER}/keys`]);
});

test.each([
  ["is another issuer's", { issuer: "https://other.example", jwks_uri: `${ISSUER}/keys` }],
  ["names no issuer", { jwks_uri: `${ISSUER}/keys` }],
  ["names no keys", { issuer: ISSUER }],
  ["names keys on plain http", { issuer: ISSUER, jwks_uri: "http://id.example/keys" }],
  ["is no object", null],
])(
  "AUTH-15 MCA-5 with a discovery that %s the keys are looked for at jwks.json, with a warning",
  async (_, document) => {
    const provider = await ScriptedProvider.start();
    provider.answer("/.well-known/openid-configuration", document);
    provider.answer("/.well-known/jwks.json", { keys: [provider.key.jwk] });
    expect(await outcome(provider.verifier(), provider.token())).toBe("ada");
    expect(provider.asked).toEqual([DISCOVERY, GUESS]);
    expect(provider.warnings).toEqual([expect.stringContaining(GUESS)]);
  },
);

test("AUTH-15 a discovery that cannot be had is tried again at each later fetch, and warned of once", async () => {
  const provider = await ScriptedProvider.start();
  const discovery = provider.documents.get(DISCOVERY);
  provider.documents.delete(DISCOVERY);
  provider.answer("/.well-known/jwks.json", { keys: [provider.key.jwk] });
  const verifier = provider.verifier();
  for (let hour = 0; hour < 2; hour++) {
    expect(await outcome(verifier, provider.token())).toBe("ada");
    provider.now += HOUR;
  }
  provider.documents.set(DISCOVERY, discovery ?? expect.unreachable());
  expect(await outcome(verifier, provider.token())).toBe("ada");
  expect(provider.asked).toEqual([DISCOVERY, GUESS, DISCOVERY, GUESS, DISCOVERY, `${ISSUER}/keys`]);
  expect(provider.warnings).toEqual([expect.stringMatching(/answered 404/)]);
});

test("AUTH-15 any number of first tokens are one fetch", async () => {
  const provider = await ScriptedProvider.start();
  const verifier = provider.verifier();
  const token = await provider.token();
  const all = await Promise.all(Array.from({ length: 50 }, () => outcome(verifier, token)));
  expect(new Set(all)).toEqual(new Set(["ada"]));
  expect(provider.fetches).toBe(1);
});

test("AUTH-15 a token of a new key is taken at once: an unknown key is looked for", async () => {
  const provider = await ScriptedProvider.start();
  const verifier = provider.verifier();
  expect(await outcome(verifier, provider.token())).toBe("ada");
  const second = await signingKey("second");
  provider.publish(provider.key.jwk, second.jwk);
  const tokens = Array.from({ length: 20 }, () => outcome(verifier, provider.token({}, second)));
  expect(new Set(await Promise.all(tokens))).toEqual(new Set(["ada"]));
  expect(await outcome(verifier, provider.token())).toBe("ada");
  expect(provider.fetches).toBe(2);
});

test("AUTH-15 unknown keys are looked for at most once in 30 seconds, whatever they are called", async () => {
  const provider = await ScriptedProvider.start();
  const verifier = provider.verifier();
  expect(await outcome(verifier, provider.token())).toBe("ada");
  const madeUp = async (kid: string) => provider.token({}, await signingKey(kid));
  for (let n = 0; n < 10; n++) expect(await outcome(verifier, madeUp(`x${n}`))).toBe("invalid");
  expect(provider.fetches).toBe(2);
  provider.now += 30 * SECOND - 1;
  expect(await outcome(verifier, madeUp("y"))).toBe("invalid");
  expect(provider.fetches).toBe(2);
  provider.now += 1;
  expect(await outcome(verifier, madeUp("z"))).toBe("invalid");
  expect(provider.fetches).toBe(3);
});

test("AUTH-15 a key without a name that was replaced is looked for too", async () => {
  const provider = await ScriptedProvider.start();
  const { privateKey, jwk } = await signingKey("second");
  const nameless = ({ kid: _, ...rest }: typeof jwk) => rest;
  provider.publish(nameless(provider.key.jwk));
  const verifier = provider.verifier();
  expect(await outcome(verifier, provider.token({ header: { kid: undefined } }))).toBe("ada");
  provider.publish(nameless(jwk));
  const token = await provider.token({}, { privateKey, jwk: nameless(jwk) });
  expect(await outcome(verifier, token)).toBe("ada");
});

test("AUTH-15 a wrong signature of a key that is known fetches nothing", async () => {
  const provider = await ScriptedProvider.start();
  const verifier = provider.verifier();
  const forged = await provider.token({}, await signingKey("first"));
  for (let n = 0; n < 3; n++) expect(await outcome(verifier, forged)).toBe("invalid");
  expect(provider.fetches).toBe(1);
});

test("AUTH-15 a provider that is down from the start is 503 with when to try again, and serves once it is up", async () => {
  const provider = await ScriptedProvider.start();
  provider.isAway = true;
  const verifier = provider.verifier();
  const token = await provider.token();
  await expect(verifier.verify(token)).rejects.toMatchObject({
    code: "auth_unavailable",
    details: { retry_after_seconds: 5 },
  });
  const tries = provider.asked.length;
  provider.now += 5 * SECOND - 1;
  expect(await outcome(verifier, token)).toBe("auth_unavailable");
  expect(provider.asked).toHaveLength(tries);
  provider.isAway = false;
  provider.now += 1;
  expect(await outcome(verifier, token)).toBe("ada");
});

test("AUTH-15 while the provider is away known keys serve 24 hours beyond their time, then no more", async () => {
  const provider = await ScriptedProvider.start();
  const verifier = provider.verifier();
  expect(await outcome(verifier, provider.token())).toBe("ada");
  provider.isAway = true;
  for (const hours of [1, 5, 18.99]) {
    provider.now += hours * HOUR;
    expect(await outcome(verifier, provider.token())).toBe("ada");
  }
  provider.now += 0.01 * HOUR;
  expect(await outcome(verifier, provider.token())).toBe("auth_unavailable");
  provider.isAway = false;
  provider.now += 5 * SECOND;
  expect(await outcome(verifier, provider.token())).toBe("ada");
});

test("AUTH-15 a provider that stays away is asked at most once in 30 seconds, and complained of once", async () => {
  const provider = await ScriptedProvider.start();
  const verifier = provider.verifier({ jwks_uri: `${ISSUER}/keys` });
  expect(await outcome(verifier, provider.token())).toBe("ada");
  provider.isAway = true;
  provider.now += HOUR;
  for (let second = 0; second < 90; second++) {
    expect(await outcome(verifier, provider.token())).toBe("ada");
    provider.now += SECOND;
  }
  expect(provider.fetches).toBe(1 + 3);
  expect(provider.warnings).toEqual([
    "the keys of the OpenID provider cannot be fetched (https://id.example/keys: ECONNREFUSED); those that are known serve on",
  ]);
});

test("AUTH-15 while the provider is away nobody waits for it whose key is known", async () => {
  const provider = await ScriptedProvider.start();
  const verifier = provider.verifier({ jwks_uri: `${ISSUER}/keys` });
  expect(await outcome(verifier, provider.token())).toBe("ada");
  provider.isAway = true;
  provider.now += HOUR;
  expect(await outcome(verifier, provider.token())).toBe("ada");
  provider.isAway = false;
  const slow = Promise.withResolvers<Response>();
  provider.documents.set(`${ISSUER}/keys`, () => slow.promise);
  provider.now += 30 * SECOND;
  expect(await outcome(verifier, provider.token())).toBe("ada");
  expect(provider.fetches).toBe(3);
  const second = await signingKey("second");
  const waiting = outcome(verifier, provider.token({}, second));
  slow.resolve(Response.json({ keys: [second.jwk] }));
  expect(await waiting).toBe("ada");
  expect(provider.fetches).toBe(3);
});

test("AUTH-15 an unknown key while the provider is away is 503, not a refusal, and failed fetches count", async () => {
  const provider = await ScriptedProvider.start();
  const verifier = provider.verifier({ jwks_uri: `${ISSUER}/keys` });
  expect(await outcome(verifier, provider.token())).toBe("ada");
  const second = await signingKey("second");
  provider.isAway = true;
  for (let n = 0; n < 5; n++) {
    expect(await outcome(verifier, provider.token({}, second))).toBe("auth_unavailable");
  }
  expect(provider.fetches).toBe(2);
  expect(await outcome(verifier, provider.token())).toBe("ada");
  provider.isAway = false;
  provider.publish(provider.key.jwk, second.jwk);
  provider.now += 30 * SECOND;
  expect(await outcome(verifier, provider.token({}, second))).toBe("ada");
});

test("AUTH-15 a fetch that failed for the age of the keys counts for an unknown key too", async () => {
  const provider = await ScriptedProvider.start();
  const verifier = provider.verifier();
  expect(await outcome(verifier, provider.token())).toBe("ada");
  provider.isAway = true;
  provider.now += HOUR;
  expect(await outcome(verifier, provider.token())).toBe("ada");
  const tries = provider.asked.length;
  provider.now += 30 * SECOND - 1;
  const second = await signingKey("second");
  expect(await outcome(verifier, provider.token({}, second))).toBe("auth_unavailable");
  expect(provider.asked).toHaveLength(tries);
});

test.each([
  ["no keys", { keys: [] }],
  ["something else", { error: "maintenance" }],
  ["keys that are none", { keys: [7] }],
  ["keys that are no list", { keys: { first: {} } }],
  ["nothing", null],
])("AUTH-15 an answer with %s counts as failed: known keys serve on", async (_, document) => {
  const provider = await ScriptedProvider.start();
  const verifier = provider.verifier();
  expect(await outcome(verifier, provider.token())).toBe("ada");
  provider.answer("/keys", document);
  provider.now += HOUR;
  expect(await outcome(verifier, provider.token())).toBe("ada");
  expect(provider.warnings).toEqual([expect.stringMatching(/those that are known serve on$/)]);
  expect(await outcome(provider.verifier(), provider.token())).toBe("auth_unavailable");
});

test("AUTH-15 keys among others that mean nothing to us are found", async () => {
  const provider = await ScriptedProvider.start();
  const odd = [
    {},
    { kty: "oct", k: "AAAA", kid: "first" },
    { kty: "AKP", kid: 7 },
    { kid: "first" },
  ];
  provider.publish(...(odd as never[]), provider.key.jwk);
  expect(await outcome(provider.verifier(), provider.token())).toBe("ada");
});

test("AUTH-15 a clock that is set back makes keys old, not young for ever", async () => {
  const provider = await ScriptedProvider.start();
  const verifier = provider.verifier();
  expect(await outcome(verifier, provider.token())).toBe("ada");
  provider.now -= 100 * 24 * HOUR;
  expect(await outcome(verifier, provider.token())).toBe("ada");
  expect(provider.fetches).toBe(2);
});
