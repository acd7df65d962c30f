import { expect, test } from "vitest";
import { FakeBody } from "../testing/fake-body.ts";
import { installReplaySafeGlobals } from "./install.ts";
import { realClock } from "./real.ts";

const AT = { timeZone: "UTC", dateStyle: "short", timeStyle: "medium" } as const;
/** One that code made, and a function it took, before the globals were replaced. */
const early = new Intl.DateTimeFormat("en-GB", AT);
const { formatToParts } = Intl.DateTimeFormat.prototype;
installReplaySafeGlobals();
const body = new FakeBody();
const format = new Intl.DateTimeFormat("en-GB", AT);

const shown = (parts: readonly Intl.DateTimeFormatPart[]) =>
  parts.map(({ value }) => value).join("");

test.each<[string, () => string]>([
  ["format()", () => format.format()],
  ["format(undefined)", () => format.format(undefined)],
  ["format taken out of the formatter", () => [undefined].map(format.format)[0] ?? ""],
  ["format() of an early formatter", () => early.format()],
  ["formatToParts()", () => shown(format.formatToParts())],
  ["formatToParts(undefined)", () => shown(format.formatToParts(undefined))],
  [
    "new Intl.DateTimeFormat().format()",
    () => new Intl.DateTimeFormat(["en-GB"], { ...AT }).format(),
  ],
])(
  "EXE-31 Intl.DateTimeFormat's %s in a body shows the time of the newest event, elsewhere the real one",
  (_, read) => {
    const received = "09/09/2001, 01:46:40";
    expect(body.inBody(read)).toBe(received);
    const year = String(new Date(realClock.now()).getUTCFullYear());
    expect(body.inTask(read)).toContain(`/${year}, `);
    expect(read()).toContain(`/${year}, `);
  },
);

test("EXE-31 a formatter formats the date it is given, in a body as elsewhere", () => {
  for (const within of [<T>(run: () => T) => body.inBody(run), <T>(run: () => T) => run()]) {
    within(() => {
      const epoch = "01/01/1970, 00:00:00";
      expect(format.format(0)).toBe(epoch);
      expect(format.format(new Date(0))).toBe(epoch);
      expect(format.format(null as never)).toBe(epoch);
      expect(shown(format.formatToParts(0))).toBe(epoch);
      expect(format.formatRange(0, 0)).toBe(epoch);
      expect(() => format.format(Number.NaN)).toThrow(RangeError);
      expect(() => format.formatRange(undefined as never, 0)).toThrow(TypeError);
      expect(new Date(0).toLocaleString("en-GB", { timeZone: "UTC" })).toBe(epoch);
    });
  }
});

test("EXE-31 the replacements look like what they replace", () => {
  expect(format.format).toBe(format.format);
  expect(format.format).not.toBe(early.format);
  const { prototype } = Intl.DateTimeFormat;
  const now = Object.getOwnPropertyDescriptor(prototype, "format");
  expect(now).toMatchObject({ enumerable: false, configurable: true, set: undefined });
  expect(now?.get?.name).toBe("get format");
  expect([format.format.name, format.format.length]).toEqual(["", 1]);
  expect(prototype.formatToParts).not.toBe(formatToParts);
  expect([prototype.formatToParts.name, prototype.formatToParts.length]).toEqual([
    "formatToParts",
    formatToParts.length,
  ]);
  expect(() => Reflect.get(prototype, "format", {})).toThrow(TypeError);
});
