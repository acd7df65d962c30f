// biome-ignore-all lint/complexity/useDateNow: both ways to ask are tested
import { expect, test, vi } from "vitest";
import { FakeBody } from "../testing/fake-body.ts";
import { installReplaySafeGlobals } from "./install.ts";
import { realClock } from "./real.ts";

const NativeDate = globalThis.Date;
const early = { now: NativeDate.now };
installReplaySafeGlobals();
const body = new FakeBody();
const RECEIVED = body.now;

function isReal(ms: number): boolean {
  return Math.abs(ms - realClock.now()) < 60_000;
}

test.each([
  ["Date.now()", () => Date.now()],
  ["new Date()", () => new Date().getTime()],
  ["Date()", () => Date.parse(Date())],
  ["Reflect.construct(Date, [])", () => Reflect.construct(Date, []).getTime() as number],
  ["new (class extends Date)()", () => new (class extends Date {})().getTime()],
  ["Date.now taken out of Date", () => [0].map(Date.now)[0] ?? 0],
  ["the Date that code took before the globals were replaced", () => NativeDate.now()],
])("EXE-31 %s in a body is the time of the newest event, elsewhere the real time", (_, read) => {
  expect(body.inBody(read)).toBe(RECEIVED);
  expect(body.inTask(read)).toSatisfy(isReal);
  expect(read()).toSatisfy(isReal);
});

test("EXE-31 the time travels across awaits and moves with the events", async () => {
  const seen = await body.inBody(async () => {
    const before = Date.now();
    await Promise.resolve();
    body.now += 5;
    const inTask = body.inTask(() => Date.now());
    return { passed: Date.now() - before, inTask };
  });
  body.now = RECEIVED;
  expect(seen.passed).toBe(5);
  expect(seen.inTask).toSatisfy(isReal);
});

test.each([
  ["a body", (run: () => void) => body.inBody(run)],
  ["a task", (run: () => void) => body.inTask(run)],
  ["code outside executions", (run: () => void) => run()],
])("EXE-31 in %s every other use of Date is the native one", (_, within) => {
  within(() => {
    const date = new Date(2020, 1, 29, 12);
    expect(date.getMonth()).toBe(1);
    expect(new Date("2020-02-29T00:00:00Z").toISOString()).toBe("2020-02-29T00:00:00.000Z");
    expect(new Date(undefined as never).getTime()).toBeNaN();
    expect(new Date(new Date(7)).getTime()).toBe(7);
    expect(Date.UTC(1970, 0, 1)).toBe(0);
    expect(Date.parse("1970-01-01")).toBe(0);
    expect(date).toBeInstanceOf(Date);
    expect(date).toBeInstanceOf(NativeDate);
    expect(date.constructor).toBe(Date);
    expect(Object.getPrototypeOf(date)).toBe(Date.prototype);
    expect(Object.prototype.toString.call(new Date())).toBe("[object Date]");
    expect(structuredClone(date)).toEqual(date);
    expect(structuredClone(date)).toBeInstanceOf(Date);
    expect(JSON.stringify({ date: new Date(0) })).toBe('{"date":"1970-01-01T00:00:00.000Z"}');
    expect([Date.name, Date.length, typeof Date]).toEqual(["Date", 7, "function"]);
    expect(Object.getOwnPropertyNames(Date).sort()).toEqual(
      Object.getOwnPropertyNames(NativeDate).sort(),
    );
  });
});

test("EXE-31 a subclass keeps its own prototype, arguments and fields", () => {
  class Day extends Date {
    readonly label = "day";
    next(): number {
      return this.getTime() + 1;
    }
  }
  for (const day of [new Day(5), body.inBody(() => new Day(5))]) {
    expect(day).toBeInstanceOf(Day);
    expect(day).toBeInstanceOf(Date);
    expect([day.next(), day.label]).toEqual([6, "day"]);
  }
  expect(body.inBody(() => Day.now())).toBe(RECEIVED);
  const made = Reflect.construct(Date, [5], Map) as object;
  expect(Object.getPrototypeOf(made)).toBe(Map.prototype);
});

test("EXE-31 the engine's own clock is the real one, also in a body", () => {
  expect(realClock.now).toBe(early.now);
  expect(body.inBody(() => realClock.now())).toSatisfy(isReal);
});

test("EXE-31 fake timers of a test go on working outside bodies", () => {
  const before = Date;
  vi.useFakeTimers({ now: 42 });
  try {
    expect(Date.now()).toBe(42);
    expect(new Date().getTime()).toBe(42);
    let hasFired = false;
    setTimeout(() => {
      hasFired = true;
    }, 1000);
    vi.advanceTimersByTime(1000);
    expect(hasFired).toBe(true);
    expect(Date.now()).toBe(1042);
  } finally {
    vi.useRealTimers();
  }
  expect(Date).toBe(before);
  expect(Date.now()).toSatisfy(isReal);
  expect(body.inBody(() => Date.now())).toBe(RECEIVED);
});
