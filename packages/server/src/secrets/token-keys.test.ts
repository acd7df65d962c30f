import { type KeyRing, ringOf } from "@engine/store";
import { expect, test } from "vitest";
import { type ExecutionClaims, proven, signed } from "../auth/execution-token.ts";
import { testRing } from "./testing/rings.ts";
import { keyText, secretServer } from "./testing/secret-server.ts";
import { tokenKeysOf } from "./token-keys.ts";

const claims: ExecutionClaims = {
  ...{ sub: "bot", pid: "p1", on_behalf_of: null, exec: "e1", gen: 1 },
  ...{ iat: 1, exp: 2, jti: "j1" },
};

test("AUTH-40 tokens are signed with what is derived from the primary key, and never with a key itself", () => {
  const ring = testRing("a", "b");
  const keys = tokenKeysOf(ring);
  expect(keys.primary.id).toBe("a");
  expect(keys.primary.key).toHaveLength(32);
  expect(Buffer.from(keys.primary.key)).not.toEqual(ring.primary.key);
  expect(keys.of("a")).toEqual(keys.primary.key);
  expect(keys.of("b")).not.toEqual(keys.primary.key);
  expect(keys.of("c")).toBeUndefined();
  // Another start of the server derives the same.
  expect(tokenKeysOf(testRing("a")).primary).toEqual(keys.primary);
  const token = signed(claims, keys);
  expect(proven(token, { primary: ring.primary, of: (id) => ring.of(id)?.key })).toBeUndefined();
});

test("AUTH-40 any key of the ring verifies what was signed with it", () => {
  const token = signed(claims, tokenKeysOf(testRing("a")));
  expect(proven(token, tokenKeysOf(testRing("b", "a")))).toEqual(claims);
  expect(proven(token, tokenKeysOf(testRing("b")))).toBeUndefined();
  const other: KeyRing = ringOf({ id: "a", key: Buffer.alloc(32, "other") });
  expect(proven(token, tokenKeysOf(other))).toBeUndefined();
});

test("AUTH-40 a server with authorization on makes tokens, with its configured key or its own", async () => {
  for (const security of [{}, { encryption: {} }]) {
    const { server } = await secretServer({ security });
    expect(server.engine.tokens).toBeDefined();
  }
  const { server } = await secretServer({
    auth: {},
    security: { encryption: { key: keyText(1) } },
  });
  expect(server.engine.tokens).toBeUndefined();
});
