import type { MasksReady, Store } from "@engine/store";
import { expect, test } from "vitest";
import { createMasker, type Masker } from "../redaction/masker.ts";
import { ManualTime, settled } from "../testing/manual-time.ts";
import { maskEnvelopes, readHooksOnNews } from "./envelope-masks.ts";

/** What a store is told to mask with, and what is known of secrets. */
function masking() {
  const time = new ManualTime();
  let readings = 0;
  let known: Masker | undefined;
  let stored: Masker | undefined;
  let redact: (json: string) => string = (json) => json;
  let ready: MasksReady = () => undefined;
  const outbox = {
    redactWith(given: typeof redact, whenReady: MasksReady) {
      redact = given;
      ready = whenReady;
    },
  };
  maskEnvelopes({
    ports: { store: { outbox } as unknown as Store, monotonic: time.monotonic },
    masks: {
      known: () => known,
      current: async () => {
        readings++;
        await settled();
        if (!stored) throw new Error("they cannot be read");
        return stored;
      },
    },
  });
  return {
    time,
    readings: () => readings,
    /** A set that nobody can have changed; undefined: it is too old now. */
    knows: (...secrets: readonly string[]) => {
      known = secrets.length > 0 ? createMasker(secrets) : undefined;
    },
    holds: (...secrets: readonly string[]) => {
      stored = secrets.length > 0 ? createMasker(secrets) : undefined;
    },
    ready: () => ready(),
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
  await server.time.advance(400);
  await server.ready();
  expect(server.redact(VALUE)).toBe(MASKED);
  expect(server.readings()).toBe(2);
});

test("HOOK-12 hooks of which the news tells are read; where they cannot be, the log says so and the server goes on", async () => {
  let tell = () => {};
  let isAway = false;
  let read = 0;
  const warned: (string | undefined)[] = [];
  const outbox = {
    async refresh() {
      if (isAway) throw new Error("the database is away");
      read++;
    },
  };
  const quiet = () => {};
  readHooksOnNews({
    ports: {
      store: { outbox } as unknown as Store,
      log: { debug: quiet, info: quiet, error: quiet, warn: (_, said) => void warned.push(said) },
    },
    epochs: {
      onChange: (_, then) => {
        tell = then;
        return quiet;
      },
    },
  });
  tell();
  await settled();
  expect([read, warned]).toEqual([1, []]);
  isAway = true;
  tell();
  await settled();
  expect([read, warned]).toEqual([1, ["could not read which hooks have changed"]]);
});
