import { expect, test } from "vitest";
import { Renewal } from "./renewal.ts";

interface Timer {
  readonly run: () => void;
  readonly ms: number;
}

function started(expiresAt: number, offsetMs: number | null = null) {
  const timers: Timer[] = [];
  let now = 0;
  let renewals = 0;
  let kept = () => {};
  const credential = {
    expiresAt,
    onKept(then: () => void) {
      kept = then;
      then();
    },
  };
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  new Renewal({
    clock: () => now,
    setTimer: (run, ms) => {
      timers.push({ run, ms });
      return () => undefined;
    },
    life: new AbortController().signal,
    log,
    session: { persist: (send) => send({ worker: "w1", session: "s" }) },
    serverClock: { offsetMs },
    credential,
    renew: async () => {
      renewals++;
    },
  });
  return {
    timers,
    renewals: () => renewals,
    pass(ms: number) {
      now += ms;
      timers.at(-1)?.run();
    },
    keep(until: number) {
      credential.expiresAt = until;
      kept();
    },
  };
}

test("AUTH-51 a credential is renewed at two thirds of its life, and so is the next", () => {
  const worker = started(90_000);
  expect(worker.timers.map(({ ms }) => ms)).toEqual([60_000]);
  worker.pass(60_000);
  expect(worker.renewals()).toBe(1);
  worker.keep(60_000 + 30_000);
  expect(worker.timers.at(-1)?.ms).toBe(20_000);
});

test("AUTH-51 its life is counted by the server's clock, and a long one in days", () => {
  expect(started(90_000, -3_600_000).timers[0]?.ms).toBe(10_000);
  const long = started(600_000_000);
  expect(long.timers[0]?.ms).toBe(86_400_000);
  long.pass(86_400_000);
  expect(long.renewals()).toBe(0);
  long.pass(400_000_000);
  expect(long.renewals()).toBe(1);
});
