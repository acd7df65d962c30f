import { createHmac } from "node:crypto";
import { expect, test } from "vitest";
import { tokenKeys } from "../testing/guarded-engine.ts";
import { type ExecutionClaims, proven, signed, TOKEN_PREFIX } from "./execution-token.ts";
import { tokenShape } from "./token-shape.ts";

const claims: ExecutionClaims = {
  sub: "bot",
  pid: "p1",
  on_behalf_of: "schedule:nightly",
  exec: "e1",
  gen: 3,
  iat: 1_000,
  exp: 4_600,
  jti: "j1",
};

test("AUTH-40 a token says what it was made of, and is proven by any key of the ring", () => {
  const old = signed(claims, tokenKeys("k1"));
  expect(tokenShape(old)).toBe("execution_token");
  expect(proven(old, tokenKeys("k1"))).toEqual(claims);
  expect(proven(old, tokenKeys("k2", ["k2", "k1"]))).toEqual(claims);
  expect(proven(old, tokenKeys("k2"))).toBeUndefined();
  const [header = "", payload = ""] = old.slice(TOKEN_PREFIX.length).split(".");
  expect(parsed(header)).toEqual({ alg: "HS256", typ: "JWT", kid: "k1" });
  expect(parsed(payload)).toEqual({ iss: "engine", ...claims });
});

test("AUTH-40 a token that was changed, or made by somebody else, proves nothing", () => {
  const keys = tokenKeys("k1");
  const token = signed(claims, keys);
  const [header = "", payload = "", mac = ""] = token.slice(TOKEN_PREFIX.length).split(".");
  const other = encoded({ iss: "engine", ...claims, gen: 4 });
  const wrong = [
    "",
    TOKEN_PREFIX,
    token.slice(TOKEN_PREFIX.length),
    `${TOKEN_PREFIX}${header}.${other}.${mac}`,
    `${TOKEN_PREFIX}${header}.${payload}.`,
    `${TOKEN_PREFIX}${header}.${payload}.${mac}.${mac}`,
    `${TOKEN_PREFIX}${header}.${payload}.${mac.slice(0, -4)}`,
    `${TOKEN_PREFIX}${encoded({ alg: "none", typ: "JWT", kid: "k1" })}.${payload}.`,
    `${TOKEN_PREFIX}!.!.!`,
  ];
  for (const text of wrong) expect([text, proven(text, keys)]).toEqual([text, undefined]);
  // Signed with the right key, and yet not what the engine writes.
  for (const [head, body] of [
    [
      { alg: "HS512", typ: "JWT", kid: "k1" },
      { iss: "engine", ...claims },
    ],
    [
      { alg: "HS256", typ: "JWT", kid: "k1" },
      { iss: "other", ...claims },
    ],
    [
      { alg: "HS256", typ: "JWT", kid: "k1" },
      { iss: "engine", ...claims, gen: "3" },
    ],
    [
      { alg: "HS256", typ: "JWT", kid: "k1" },
      { iss: "engine", ...claims, admin: true },
    ],
  ]) {
    const text = `${encoded(head)}.${encoded(body)}`;
    const right = createHmac("sha256", keys.primary.key).update(text).digest("base64url");
    expect(proven(`${TOKEN_PREFIX}${text}.${right}`, keys)).toBeUndefined();
  }
});

function encoded(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

function parsed(text: string): unknown {
  return JSON.parse(Buffer.from(text, "base64url").toString());
}
