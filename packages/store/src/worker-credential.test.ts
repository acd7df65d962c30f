import { expect, test } from "vitest";
import { credentialState, OVERLAP_MS } from "./worker-credential.ts";

const AT = 1_000_000_000;
const WINDOW = { renew_window_ms: 10_000 };
const fresh = { expires_at: AT + 1, superseded_at: null, revoked_at: null };

test("AUTH-51 a credential is valid to its end, and renewable for some time after it", () => {
  const state = (at: number) => credentialState({ ...fresh, expires_at: AT }, { at, ...WINDOW });
  expect([AT - 1, AT, AT + 9_999, AT + 10_000].map(state)).toEqual([
    "valid",
    "renewable",
    "renewable",
    "expired",
  ]);
});

test("AUTH-51 a predecessor is valid for 60 s after its successor's first use, and reused after that", () => {
  const old = { ...fresh, superseded_at: AT - OVERLAP_MS };
  const state = (at: number) => credentialState({ ...old, expires_at: AT + 1 }, { at, ...WINDOW });
  expect(OVERLAP_MS).toBe(60_000);
  expect(state(AT - 1)).toBe("valid");
  expect(state(AT)).toBe("reused");
  // Also where it would have ended by now.
  expect(state(AT + 100_000)).toBe("reused");
});

test("AUTH-51 what is revoked stays so", () => {
  const state = credentialState({ ...fresh, revoked_at: AT }, { at: AT, ...WINDOW });
  expect(state).toBe("revoked");
});
