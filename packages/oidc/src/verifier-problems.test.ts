import { EngineError } from "@engine/contract";
import { expect, test } from "vitest";
import { ISSUER } from "./testing/scripted-provider.ts";
import { createTokenVerifier } from "./token-verifier.ts";
import { type VerifierSettings, verifierProblems } from "./verifier-problems.ts";

const problems = (settings: Partial<VerifierSettings>) =>
  verifierProblems({ issuer: ISSUER, audience: "engine", ...settings });

test.each([
  "https://id.example",
  "https://id.example/realms/a/",
  "http://localhost:9000",
  "http://id.localhost",
  "http://127.0.0.1:9000",
  "http://127.9.9.9",
  "http://[::1]:9000",
])("AUTH-3 MCA-1 the issuer and the address of its keys may be %s", (url) => {
  expect(problems({ issuer: url, jwks_uri: `${url}/keys?tenant=a` })).toEqual([]);
});

test.each([
  ["http://id.example", /expected an https URL, or http on a loopback host/],
  ["http://127.0.0.1.evil.example", /loopback/],
  ["http://localhost.evil.example", /loopback/],
  ["http://10.0.0.1", /loopback/],
  ["ftp://localhost", /loopback/],
  ["file:///etc/passwd", /loopback/],
  ["id.example", /absolute URL/],
  ["", /absolute URL/],
  ["https://user:pass@id.example", /without user and password/],
])("AUTH-3 MCA-1 the issuer and the address of its keys may not be %j", (url, expected) => {
  const message = expect.stringMatching(expected);
  expect(problems({ issuer: url, jwks_uri: url })).toEqual([
    { path: "issuer", message },
    { path: "jwks_uri", message },
  ]);
  expect(JSON.stringify(problems({ issuer: url }))).not.toContain("pass@");
});

test.each(["https://id.example?a=1", "https://id.example#a"])(
  "AUTH-3 an issuer has no query and no fragment: %s",
  (issuer) => {
    expect(problems({ issuer })).toEqual([
      { path: "issuer", message: "expected a URL without query and fragment" },
    ]);
  },
);

test.each([
  ["none", /nobody signed/],
  ["None", /nobody signed/],
  ["HS256", /everybody sign/],
  ["hs512", /everybody sign/],
  ["HS1", /everybody sign/],
  ["RS1", /expected some of RS256, .*EdDSA; got "RS1"/],
  ["rs256", /got "rs256"/],
])("AUTH-3 tokens cannot be signed with %s", (name, expected) => {
  expect(problems({ algorithms: ["RS256", name] })).toEqual([
    { path: "algorithms", message: expect.stringMatching(expected) },
  ]);
});

test("AUTH-3 algorithms or audiences that are given but none are refused", () => {
  expect(problems({ algorithms: [] })).toMatchObject([{ path: "algorithms" }]);
  for (const audience of ["", [], ["engine", ""]]) {
    expect(problems({ audience })).toMatchObject([{ path: "audience" }]);
  }
  expect(problems({ audience: undefined, algorithms: undefined })).toEqual([]);
});

test("AUTH-3 no verifier is made of settings that cannot be used, and all that is wrong is told", () => {
  const settings = { issuer: "http://id.example", audience: [], algorithms: ["none", "HS256"] };
  const make = () => createTokenVerifier({ ...settings, skew: 30, fetch, clock: () => 0 });
  expect(make).toThrow(EngineError);
  expect(make).toThrow(
    expect.objectContaining({
      code: "invalid_input",
      message: expect.stringMatching(/^issuer: expected an https URL.*\(and 3 more\)$/),
      details: { issues: verifierProblems(settings) },
    }),
  );
});
