/** `FUZZ_RUNS` sets how many headers each property sees. */
import { EngineError } from "@engine/contract";
import * as fc from "fast-check";
import { expect, test, vi } from "vitest";
import { bearerToken, tokenShape } from "./token-shape.ts";

const numRuns = Number(process.env["FUZZ_RUNS"] ?? 2_000);
vi.setConfig({ testTimeout: 30_000 + numRuns });

const KEY = `engine_sk_abcdefghij12_${"A".repeat(43)}`;

function refusedWith(raw_headers: readonly string[]): unknown {
  try {
    return bearerToken(raw_headers);
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    return error.details?.["reason"] ?? error.code;
  }
}

test("AUTH-8 the token comes in one header, whatever the case of its name and scheme", () => {
  for (const [name, value] of [
    ["authorization", `Bearer ${KEY}`],
    ["AUTHORIZATION", `bearer ${KEY}`],
    ["Authorization", `BEARER   ${KEY}  `],
  ] as const) {
    expect(bearerToken(["host", "x", name, value, "accept", "y"])).toBe(KEY);
  }
  expect(refusedWith(["Authorization", `Bearer ${KEY}`, "authorization", `Bearer ${KEY}`])).toBe(
    "bad_request",
  );
});

test("AUTH-8 AUTH-9 what is no bearer token is malformed, nothing at all is missing", () => {
  expect(refusedWith([])).toBe("missing");
  expect(refusedWith(["cookie", `authorization=Bearer ${KEY}`])).toBe("missing");
  for (const value of ["", "Bearer", "Bearer ", KEY, `Basic ${KEY}`, `Bearer ${KEY} ${KEY}`]) {
    expect([value, refusedWith(["authorization", value])]).toEqual([value, "malformed"]);
  }
  expect(refusedWith(["authorization", `Bearer ${"a".repeat(16 * 1024)}`])).toBe(
    "a".repeat(16_384),
  );
  expect(refusedWith(["authorization", `Bearer ${"a".repeat(16 * 1024 + 1)}`])).toBe("malformed");
});

test.each([
  [KEY, "api_key"],
  ["engine_et_a.b.c", "execution_token"],
  [`engine_wk_abcdefghij12_${"A".repeat(43)}`, "worker_credential"],
  ["engine_jt_abc", "join_token"],
  ["engine_bt_abc", "bootstrap_token"],
  ["eyJhbGciOiJub25lIn0.e30.", "oidc"],
  ["a.b.c", "oidc"],
  ["engine_sk_abcdefghij12", undefined],
  ["engine_sk_ABCDEFGHIJ12_x", undefined],
  ["engine_sk_a.b.c", undefined],
  ["engine_et_abc", undefined],
  ["a.b", undefined],
  ["a.b.c.d", undefined],
  ["a.b=.c", undefined],
  ["", undefined],
])("AUTH-11 the shape of %s says its kind: %s", (token, kind) => {
  expect(tokenShape(token)).toBe(kind);
});

test("AUTH-8 AUTH-11 whatever the headers hold, a token comes out or a coded refusal", () => {
  const name = fc.constantFrom("authorization", "Authorization", "AUTHORIZATION", "cookie", "host");
  const piece = fc.constantFrom(
    "Bearer",
    "bearer",
    "Basic",
    " ",
    "\t",
    KEY,
    "a.b.c",
    "engine_",
    "",
  );
  const value = fc.oneof(
    fc.string(),
    fc.array(piece).map((pieces) => pieces.join("")),
  );
  const headers = fc.array(fc.tuple(name, value), { maxLength: 4 }).map((pairs) => pairs.flat());
  fc.assert(
    fc.property(headers, (raw_headers) => {
      const said = refusedWith(raw_headers);
      expect(typeof said).toBe("string");
      tokenShape(String(said));
    }),
    { numRuns },
  );
});
