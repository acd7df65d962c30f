import { expect, test } from "vitest";
import { maskEnvelopes } from "./envelope-masks.ts";
import { createMasker, type Masker } from "./masker.ts";

/** What a store is told to mask with, and what is known of secrets. */
function masking() {
  let now = 0;
  let readings = 0;
  let known: Masker | undefined;
  let stored: Masker | undefined;
  let redact: (json: string) => string = (json) => json;
  let ready: (hasHooks: boolean) => Promise<void> | undefined = () => undefined;
  const outbox = {
    redactWith(given: typeof redact, whenReady: typeof ready) {
      redact = given;
      ready = whenReady;
    },
  };
  maskEnvelopes({
    outbox,
    monotonic: () => now,
    masks: {
      known: () => known,
      current: async () => {
        readings++;
        await Promise.resolve();
        if (!stored) throw new Error("they cannot be read");
        return stored;
      },
    },
  });
  return {
    passes: (ms: number) => {
      now += ms;
    },
    readings: () => readings,
    /** A set that nobody can have changed; undefined: it is too old now. */
    knows: (...secrets: readonly string[]) => {
      known = secrets.length > 0 ? createMasker(secrets) : undefined;
    },
    holds: (...secrets: readonly string[]) => {
      stored = secrets.length > 0 ? createMasker(secrets) : undefined;
    },
    ready: (hasHooks = true) => ready(hasHooks),
    redact: (json: string) => redact(json),
  };
}

const VALUE = JSON.stringify("a hunter-two of the north");
const MASKED = JSON.stringify("a ***REDACTED*** of the north");

test("HOOK-16 a commit waits for nothing while it is known what is masked, and keeps that however long it takes", () => {
  const server = masking();
  server.knows("hunter-two");
  expect(server.ready()).toBeUndefined();
  server.knows();
  expect(server.redact(VALUE)).toBe(MASKED);
  expect(server.readings()).toBe(0);
});

test("HOOK-16 where it is not known, a commit waits until it is read: no event after a quiet time shows a marker", async () => {
  const server = masking();
  server.holds("hunter-two");
  await server.ready();
  expect(server.redact(VALUE)).toBe(MASKED);
});

test("HOOK-16 RED-5 while secrets cannot be read nothing is shown, and they are not asked for at each commit", async () => {
  const server = masking();
  server.knows("hunter-two");
  expect(server.ready()).toBeUndefined();
  server.knows();
  await server.ready();
  // Not even with what was known before.
  expect(() => server.redact(VALUE)).toThrow();
  for (let commit = 0; commit < 5; commit++) {
    expect(server.ready()).toBeUndefined();
    expect(() => server.redact(VALUE)).toThrow();
  }
  expect(server.readings()).toBe(1);
  server.holds("hunter-two");
  server.passes(400);
  await server.ready();
  expect(server.redact(VALUE)).toBe(MASKED);
  expect(server.readings()).toBe(2);
});

test("HOOK-16 RED-5 what was known while there were hooks masks nothing later: a hook that comes between has a marker, or what is known then", () => {
  const server = masking();
  server.knows("hunter-two");
  expect(server.ready()).toBeUndefined();
  server.knows();
  expect(server.ready(false)).toBeUndefined();
  expect(() => server.redact(VALUE)).toThrow();
  server.knows("hunter-two");
  expect(server.redact(VALUE)).toBe(MASKED);
  expect(server.readings()).toBe(0);
});
