import { expect, test } from "vitest";
import { AUDIENCE, ISSUER, ScriptedProvider, signingKey } from "./testing/scripted-provider.ts";
import { TOKEN_ALGORITHMS } from "./token-algorithms.ts";
import { type FailedCheck, TokenRefusal } from "./token-refusal.ts";
import type { TokenVerifier } from "./token-verifier.ts";

const provider = await ScriptedProvider.start();
const seconds = Math.floor(provider.now / 1000);

/** What became of a token: whose it is, or which check it failed. */
async function outcome(
  token: string,
  verifier: TokenVerifier = provider.verifier(),
): Promise<string> {
  try {
    return (await verifier.verify(token)).subject;
  } catch (error) {
    if (error instanceof TokenRefusal) return `${error.reason}: ${error.check}`;
    throw error;
  }
}

const invalid = (check: FailedCheck) => `invalid: ${check}`;

test("AUTH-14 AUTH-16 a valid token says whose it is, until when, what they are called, and all that the provider signed", async () => {
  const claims = { name: "Ada Lovelace", preferred_username: "ada.l", groups: ["ops"] };
  const verified = await provider.verifier().verify(await provider.token({ claims }));
  expect(verified).toEqual({
    subject: "ada",
    issuer: ISSUER,
    expires_at: (seconds + 600) * 1000,
    name: "Ada Lovelace",
    preferred_username: "ada.l",
    claims: {
      ...claims,
      iss: ISSUER,
      sub: "ada",
      aud: AUDIENCE,
      iat: seconds,
      exp: seconds + 600,
    },
  });
});

test.each([
  { name: 7, preferred_username: null },
  { name: "a\0b", preferred_username: "\ud800" },
])("AUTH-16 names that are no text are none: %j", async (claims) => {
  const verified = await provider.verifier().verify(await provider.token({ claims }));
  expect(verified).toMatchObject({ name: undefined, preferred_username: undefined });
});

test.each(TOKEN_ALGORITHMS)("AUTH-14 a token signed with %s is taken", async (alg) => {
  const own = await ScriptedProvider.start(alg);
  expect(await outcome(await own.token(), own.verifier())).toBe("ada");
  expect(await outcome(await own.token(), own.verifier({ algorithms: [alg] }))).toBe("ada");
});

test("AUTH-14 `algorithms` narrows what tokens may be signed with", async () => {
  const narrow = provider.verifier({ algorithms: ["RS256", "EdDSA"] });
  expect(await outcome(await provider.token(), narrow)).toBe(invalid("algorithm"));
});

test.each(["none", "None", "HS256", "HS512", "ES256K", "Ed25519", "constructor", "", 7, null])(
  "AUTH-14 a token whose header says alg %j is refused, whatever its signature",
  async (alg) => {
    const [, payload, signature] = (await provider.token()).split(".");
    const header = encoded({ alg, kid: "first" });
    expect(await outcome(`${header}.${payload}.${signature}`)).toBe(invalid("algorithm"));
  },
);

test("AUTH-14 a token that is signed with the public key as if it were a secret is refused", async () => {
  const own = await ScriptedProvider.start("RS256");
  const text = `${encoded({ alg: "HS256", kid: "first" })}.${(await own.token()).split(".")[1]}`;
  const secret = await crypto.subtle.importKey(
    "raw",
    Buffer.from(JSON.stringify(own.key.jwk)),
    { name: "HMAC", hash: "SHA-256" },
    false,
    ["sign"],
  );
  const signature = await crypto.subtle.sign("HMAC", secret, Buffer.from(text));
  const token = `${text}.${Buffer.from(signature).toString("base64url")}`;
  expect(await outcome(token, own.verifier())).toBe(invalid("algorithm"));
});

test("AUTH-14 a key is not used with another algorithm of its kind than it was made for", async () => {
  const own = await ScriptedProvider.start("RS256");
  const token = await own.token();
  own.publish({ ...own.key.jwk, alg: "PS256" });
  expect(await outcome(token, own.verifier())).toBe(invalid("signature"));
  own.publish({ ...own.key.jwk, alg: undefined } as never);
  expect(await outcome(token, own.verifier())).toBe("ada");
});

test.each([
  ["of another name", { kid: "second" }],
  ["without a name", { kid: undefined }],
  ["of another kind", { kty: "RSA" }],
  ["on another curve", { crv: "P-384" }],
  ["for encryption", { use: "enc" }],
  ["for another operation", { key_ops: ["sign"] }],
  ["whose point is on no curve", { x: "AAAA" }],
  ["that is no point", { x: 7 }],
  ["that is private", { d: "AAAA" }],
])("AUTH-14 a key %s verifies nothing", async (_, change) => {
  const own = await ScriptedProvider.start();
  own.publish({ ...own.key.jwk, ...change } as never);
  expect(await outcome(await own.token(), own.verifier())).toBe(invalid("signature"));
});

test("AUTH-14 an RSA key of less than 2048 bits verifies nothing", async () => {
  const own = await ScriptedProvider.start("RS256");
  const { publicKey, privateKey } = await crypto.subtle.generateKey(
    {
      name: "RSASSA-PKCS1-v1_5",
      modulusLength: 1024,
      publicExponent: new Uint8Array([1, 0, 1]),
      hash: "SHA-256",
    },
    true,
    ["sign", "verify"],
  );
  const { kty, n, e } = await crypto.subtle.exportKey("jwk", publicKey);
  own.publish({ kty, n, e, kid: "first" } as never);
  const text = (await own.token()).split(".").slice(0, 2).join(".");
  const signature = await crypto.subtle.sign("RSASSA-PKCS1-v1_5", privateKey, Buffer.from(text));
  const token = `${text}.${Buffer.from(signature).toString("base64url")}`;
  expect(await outcome(token, own.verifier())).toBe(invalid("signature"));
});

test("AUTH-14 of several keys with one name each is tried, and what cannot be used is passed over", async () => {
  const own = await ScriptedProvider.start();
  const other = await signingKey("first");
  own.publish({ ...own.key.jwk, use: "enc" }, { kty: "EC", kid: "first" }, other.jwk, own.key.jwk);
  expect(await outcome(await own.token(), own.verifier())).toBe("ada");
  expect(await outcome(await own.token({}, other), own.verifier())).toBe("ada");
  own.publish(...Array.from({ length: 2000 }, () => other.jwk), own.key.jwk);
  expect(await outcome(await own.token(), own.verifier())).toBe(invalid("signature"));
});

test("AUTH-14 a provider with one key may leave out its name, one with several may not", async () => {
  const own = await ScriptedProvider.start();
  const token = await own.token({ header: { kid: undefined } });
  own.publish({ ...own.key.jwk, kid: undefined } as never);
  expect(await outcome(token, own.verifier())).toBe("ada");
  own.publish(own.key.jwk, (await signingKey("second", "RS256")).jwk);
  expect(await outcome(token, own.verifier())).toBe("ada");
  own.publish(own.key.jwk, (await signingKey("second")).jwk);
  expect(await outcome(token, own.verifier())).toBe(invalid("signature"));
});

test("AUTH-14 a token signed with a key that somebody else calls by the same name is refused", async () => {
  const token = await provider.token({}, await signingKey("first"));
  expect(await outcome(token)).toBe(invalid("signature"));
});

test("AUTH-14 a token that was changed after it was signed is refused", async () => {
  const [header, , signature] = (await provider.token()).split(".");
  const [, payload] = (await provider.token({ claims: { sub: "root" } })).split(".");
  expect(await outcome(`${header}.${payload}.${signature}`)).toBe(invalid("signature"));
});

test.each([[["b64"]], [["exp"]], [[]], [null]])(
  "AUTH-14 a token with critical extensions is refused: %j",
  async (crit) => {
    const token = await signedByHand({ alg: "ES256", kid: "first", b64: true, crit });
    expect(await outcome(token)).toBe(invalid("critical"));
  },
);

test.each([7, null, ["first"]])(
  "AUTH-14 a name of a key that is no text is none: %j",
  async (kid) => {
    expect(await outcome(await signedByHand({ alg: "ES256", kid }))).toBe(invalid("signature"));
  },
);

test.each([
  ["another", { iss: "https://id.example.evil" }],
  ["one below it", { iss: `${ISSUER}/tenant` }],
  ["one with two slashes", { iss: `${ISSUER}//` }],
  ["one in another case", { iss: ISSUER.toUpperCase() }],
  ["none", { iss: undefined }],
  ["a list", { iss: [ISSUER] }],
  ["null", { iss: null }],
])("AUTH-14 a token of another issuer is refused: %s", async (_, claims) => {
  expect(await outcome(await provider.token({ claims }))).toBe(invalid("issuer"));
});

test("AUTH-14 a slash at the end of the issuer makes no difference, and the issuer is told as configured", async () => {
  const token = await provider.token({ claims: { iss: `${ISSUER}/` } });
  expect(await provider.verifier().verify(token)).toMatchObject({ issuer: ISSUER });
  const slashed = provider.verifier({ issuer: `${ISSUER}/` });
  expect(await slashed.verify(await provider.token())).toMatchObject({ issuer: `${ISSUER}/` });
});

test.each([
  ["engine", "engine"],
  ["engine", ["other", "engine"]],
  [["api", "engine"], "engine"],
  [
    ["api", "engine"],
    ["x", "api"],
  ],
])("AUTH-14 with audience %j a token for %j is taken", async (audience, aud) => {
  const token = await provider.token({ claims: { aud } });
  expect(await outcome(token, provider.verifier({ audience }))).toBe("ada");
});

test.each([undefined, null, "other", "", [], ["other"], [["engine"]], 7, { 0: "engine" }])(
  "AUTH-14 a token for another audience is refused: %j",
  async (aud) => {
    expect(await outcome(await provider.token({ claims: { aud } }))).toBe(invalid("audience"));
  },
);

test.each([undefined, "other", 7])(
  "MCA-6 without a configured audience, aud %j is neither required nor looked at",
  async (aud) => {
    const token = await provider.token({ claims: { aud } });
    expect(await outcome(token, provider.verifier({ audience: undefined }))).toBe("ada");
  },
);

test.each([undefined, null, "", 7, "x".repeat(256), "🦀".repeat(256), "a\0b", "\ud800"])(
  "AUTH-14 a subject that is not 1 to 255 characters is refused: %j",
  async (sub) => {
    expect(await outcome(await provider.token({ claims: { sub } }))).toBe(invalid("subject"));
  },
);

test.each(["x", "x".repeat(255), "🦀".repeat(255), "auth0|5f7c8ec7", "*", "a:b"])(
  "AUTH-14 a subject of 1 to 255 characters is taken: %s",
  async (sub) => {
    expect(await outcome(await provider.token({ claims: { sub } }))).toBe(sub);
  },
);

test.each([undefined, null, "1900000000", true, 1e300])(
  "AUTH-14 a token that does not say when it expires is refused: %j",
  async (exp) => {
    expect(await outcome(await provider.token({ claims: { exp } }))).toBe(invalid("expiry"));
  },
);

test("AUTH-14 AUTH-9 a token serves until `clock_skew` seconds after it expires, and is expired from then on", async () => {
  const at = (exp: number) => provider.token({ claims: { exp: seconds + exp } });
  expect(await outcome(await at(-29))).toBe("ada");
  expect(await outcome(await at(-29.5))).toBe("ada");
  expect(await outcome(await at(-30))).toBe("expired: expired");
  expect(await outcome(await at(-1e6))).toBe("expired: expired");
  expect(await outcome(await at(0), provider.verifier({ skew: 0 }))).toBe("expired: expired");
});

test.each([
  ["nbf", "not_before"],
  ["iat", "issued_at"],
] as const)("AUTH-14 %s may lie `clock_skew` seconds ahead and no further", async (name, check) => {
  const at = (ahead: unknown) => provider.token({ claims: { [name]: ahead } });
  expect(await outcome(await at(seconds + 30))).toBe("ada");
  expect(await outcome(await at(undefined))).toBe("ada");
  expect(await outcome(await at(seconds + 31))).toBe(invalid(check));
  for (const odd of ["2026", null, {}, 1e300]) {
    expect(await outcome(await at(odd))).toBe(invalid(check));
  }
});

test("AUTH-9 only a token that is right but for its age is called expired", async () => {
  const exp = seconds - 3600;
  const token = (claims: object) => provider.token({ claims: { exp, ...claims } });
  const forged = await provider.token({ claims: { exp } }, await signingKey("first"));
  expect(await outcome(await token({}))).toBe("expired: expired");
  expect(await outcome(forged)).toBe(invalid("signature"));
  expect(await outcome(await token({ iss: "https://other.example" }))).toBe(invalid("issuer"));
  expect(await outcome(await token({ aud: "other" }))).toBe(invalid("audience"));
  expect(await outcome(await token({ nbf: seconds + 60 }))).toBe(invalid("not_before"));
});

test.each([
  "",
  ".",
  "..",
  "a.b",
  "a.b.c",
  "a.b.c.d",
  "engine_sk_abcdefghijkl_secret",
  `${encoded({ alg: "ES256" })}.${encoded({})}.`,
  `${encoded({ alg: "ES256" })}.${encoded({})}.!`,
  `${encoded({ alg: "ES256" })}.${encoded({})}.a=`,
  `${encoded({ alg: "ES256" })}.${encoded([])}.aa`,
  `${encoded("ES256")}.${encoded({})}.aa`,
  `${encoded(null)}.${encoded({})}.aa`,
  ` ${encoded({ alg: "ES256" })}.${encoded({})}.aa`,
  `${encoded({ alg: "ES256" })}.${encoded({})}.aa\n`,
  `${Buffer.from('{"alg":"ES256","kid":"\xff"}', "latin1").toString("base64url")}.${encoded({})}.aa`,
])("AUTH-9 what is no signed JWT is malformed: %j", async (token) => {
  expect(await outcome(token)).toBe("malformed: shape");
});

test("AUTH-8 a token of more than 16 KiB is malformed, however right it is", async () => {
  const long = (length: number) => provider.token({ claims: { padding: "x".repeat(length) } });
  expect(await outcome(await long(11_900))).toBe("ada");
  const token = await long(12_300);
  expect(token.length).toBeGreaterThan(16 * 1024);
  expect(await outcome(token)).toBe("malformed: shape");
});

test("AUTH-9 a refusal repeats nothing of the token", async () => {
  const token = await provider.token({ claims: { sub: "s3cret".repeat(50) } });
  const refusal = await provider
    .verifier()
    .verify(token)
    .catch((error: unknown) => error);
  const told = `${String(refusal)} ${JSON.stringify(refusal)}`;
  expect(told).toContain("1 to 255 characters");
  expect(told).not.toContain("s3cret");
});

test("AUTH-14 what is malformed, or would be refused with any key, asks nothing of the provider", async () => {
  const own = await ScriptedProvider.start();
  own.isAway = true;
  const verifier = own.verifier();
  expect(await outcome("a.b.c", verifier)).toBe("malformed: shape");
  expect(await outcome(await own.token({ claims: { aud: "x" } }), verifier)).toBe(
    invalid("audience"),
  );
  expect(own.asked).toEqual([]);
});

function encoded(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

/** A right signature under a header that no library would write. */
async function signedByHand(header: object): Promise<string> {
  const [, payload] = (await provider.token()).split(".");
  const text = `${encoded(header)}.${payload}`;
  const signature = await crypto.subtle.sign(
    { name: "ECDSA", hash: "SHA-256" },
    provider.key.privateKey as never,
    Buffer.from(text),
  );
  return `${text}.${Buffer.from(signature).toString("base64url")}`;
}
