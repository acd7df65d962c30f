import { expect, test } from "vitest";
import { ServerClock } from "./server-clock.ts";

const HOUR = 3_600_000;
const NOON = Date.UTC(2026, 0, 1, 12);

/** A worker whose clock is off by so much, and a server that is right; it has been measured once. */
function machine(offset: number) {
  const world = { elapsed: 5_000, offset };
  const lines: string[] = [];
  const posted: number[] = [];
  let news = 0;
  const clock = new ServerClock({
    clock: () => NOON + world.elapsed + world.offset,
    monotonic: () => world.elapsed,
    log: {
      debug() {},
      info: (_, message) => void lines.push(`info ${message}`),
      warn: (details, message) => void lines.push(`warn ${JSON.stringify(details)} ${message}`),
      error() {},
    },
    onChange: (serverAtZero) => void posted.push(serverAtZero - NOON),
    onNews: () => void news++,
  });
  return {
    world,
    clock,
    lines,
    posted,
    get news() {
      return news;
    },
    /** The server looks at its clock that long after it was asked, and answers that long after that. */
    ask(thereMs: number, backMs: number) {
      const sentAt = world.elapsed;
      world.elapsed += thereMs;
      const server_time = new Date(NOON + world.elapsed).toISOString();
      world.elapsed += backMs;
      clock.measured(server_time, { sentAt, heardAt: world.elapsed });
    },
  };
}

test("a clock that agrees with the server's as far as can be told is taken as it is", () => {
  const m = machine(3);
  m.ask(4, 4);
  expect(m.posted).toEqual([3]);
  expect(m.clock.offsetMs).toBe(0);
  expect(m.lines).toEqual([]);
});

test("EXE-50 clocks that are read in whole milliseconds agree nevertheless, so that no sleep ends early", () => {
  const m = machine(0);
  const { elapsed } = m.world;
  const server_time = new Date(NOON + elapsed).toISOString();
  // The answer took no time, the one before it did; by now 0.4 ms have passed, of which no clock tells.
  m.world.offset = -0.4;
  m.world.elapsed += 0.4;
  m.clock.measured(server_time, { sentAt: elapsed - 20, heardAt: elapsed });
  expect(m.posted).toEqual([0]);
});

test.each([HOUR, -HOUR])(
  "EXE-50 what is known of the server's clock is never ahead of it where ours is off by %i ms",
  (off) => {
    const m = machine(off);
    m.ask(10, 20);
    expect(m.posted).toEqual([-20]);
    m.ask(900, 100);
    m.ask(100, 2);
    expect(m.posted).toEqual([-20, -2]);
    expect(m.clock.offsetMs).toBe(off + 2);
  },
);

test("a quicker answer makes the measurement exact, a slower one leaves it as it is", () => {
  const m = machine(HOUR);
  m.ask(900, 100);
  m.ask(1, 0);
  expect(Math.abs((m.clock.offsetMs ?? 0) - HOUR)).toBeLessThanOrEqual(1);
  const { length } = m.posted;
  // The server stood still before it looked at its clock, or after.
  m.ask(40_000, 1);
  m.ask(1, 40_000);
  expect(m.posted).toHaveLength(length);
});

test("a clock of this machine that is set changes nothing but what is told of it", () => {
  const m = machine(0);
  m.ask(1, 1);
  m.world.offset = HOUR;
  expect(m.clock.offsetMs).toBe(HOUR);
  m.ask(1, 1);
  expect(m.posted).toEqual([0]);
});

test("a server's clock that was set is followed with the next answer", () => {
  const m = machine(0);
  m.ask(1, 1);
  m.ask(40, 40);
  const sentAt = m.world.elapsed;
  const server_time = new Date(NOON + m.world.elapsed - HOUR).toISOString();
  m.clock.measured(server_time, { sentAt, heardAt: m.world.elapsed });
  expect(Math.abs((m.clock.offsetMs ?? 0) - HOUR)).toBeLessThanOrEqual(1);
});

test("a wrong clock is warned of once per change, and the server hears of each at once", () => {
  const m = machine(900);
  m.ask(1, 1);
  expect(m.lines).toEqual([]);
  m.world.offset = HOUR;
  m.ask(1, 1);
  m.ask(1, 1);
  expect(m.lines).toEqual([expect.stringMatching(/^warn .*360\d{4}.* is not the server's/)]);
  expect(m.news).toBe(1);
  m.world.offset = 0;
  m.ask(1, 1);
  m.ask(1, 1);
  expect(m.lines.slice(1)).toEqual([expect.stringMatching(/^info .* is right again/)]);
  expect(m.news).toBe(2);
});

test("what is no instant is passed over", () => {
  const m = machine(0);
  m.clock.measured("soon", { sentAt: 0, heardAt: 1 });
  expect(m.clock.offsetMs).toBeNull();
});
