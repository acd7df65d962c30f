/** `FUZZ_RUNS` sets how many tokens each property sees. */
import * as fc from "fast-check";
import { expect, test, vi } from "vitest";
import { ScriptedProvider } from "./testing/scripted-provider.ts";
import { TokenRefusal } from "./token-refusal.ts";

const numRuns = Number(process.env["FUZZ_RUNS"] ?? 500);
vi.setConfig({ testTimeout: 30_000 + numRuns * 20 });

const provider = await ScriptedProvider.start();
const verifier = provider.verifier();
const right = await provider.token();

async function refusal(token: string): Promise<unknown> {
  return verifier.verify(token).then(
    ({ subject }) => subject,
    (error: unknown) => error,
  );
}

const part = fc.oneof(
  fc.json().map((text) => Buffer.from(text).toString("base64url")),
  fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes).toString("base64url")),
  fc.constantFrom(...right.split(".")),
  fc.string({ unit: "binary", maxLength: 10 }),
);
const parts = fc.array(part, { maxLength: 5 }).map((all) => all.join("."));
/** The right one with something taken out, put in or replaced. */
const damaged = fc
  .tuple(fc.nat(right.length), fc.nat(3), fc.string({ unit: "binary", maxLength: 3 }))
  .map(([at, length, other]) => right.slice(0, at) + other + right.slice(at + length));

test("AUTH-9 any text at all is somebody's token or a refusal, and never anything else", async () => {
  await fc.assert(
    fc.asyncProperty(fc.oneof(parts, damaged, fc.string({ unit: "binary" })), async (token) => {
      const outcome = await refusal(token);
      if (outcome === "ada") {
        // Other spellings of the last character may mean the same bytes.
        expect(token.slice(0, -1)).toBe(right.slice(0, -1));
        return;
      }
      expect(outcome).toBeInstanceOf(TokenRefusal);
    }),
    { numRuns },
  );
});

test("AUTH-14 whatever claims a provider signs, a token is taken only with all that has to be there", async () => {
  const odd = fc.oneof(fc.anything(), fc.constantFrom("ada", "engine", 0, 2e9, -1));
  const claims = fc.dictionary(
    fc.constantFrom("iss", "sub", "aud", "exp", "nbf", "iat", "name"),
    odd,
  );
  await fc.assert(
    fc.asyncProperty(claims, async (given) => {
      const text = safeJson(given);
      if (text === undefined) return;
      const outcome = await refusal(await provider.token({ claims: JSON.parse(text) }));
      if (outcome instanceof TokenRefusal) expect(outcome.reason).toMatch(/^(invalid|expired)$/);
      else expect(outcome).toEqual(expect.stringMatching(/^.{1,255}$/su));
    }),
    { numRuns },
  );
});

/** Undefined for what has no JSON, such as a bigint. */
function safeJson(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}
