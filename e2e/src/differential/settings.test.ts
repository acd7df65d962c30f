import { expect, test } from "vitest";
import { settingsOf } from "./settings.ts";

test("without options there are 1,000 programs on SQLite, half of them killed, with a seed of the moment", () => {
  const { seed, folder: _, ...others } = settingsOf([]) ?? {};
  expect(seed).toBeTypeOf("number");
  expect(others).toMatchObject({
    programs: 1000,
    store: "sqlite",
    atATime: 16,
    kills: 0.5,
    times: 1,
  });
});

test("--minutes goes on with as many programs as that takes", () => {
  expect(settingsOf(["--minutes", "60"])?.programs).toBeGreaterThan(1e9);
});

test.each([
  [["--store", "mysql"], "--store is sqlite or postgres, not mysql"],
  [["--kills", "2"], "--kills is from 0 to 1, not 2"],
  [["--programs", "none"], "--programs is a whole number from 1, not none"],
  [["--minutes", "0"], "--minutes is a number above 0, not 0"],
])("%s is refused with what would do", (args, message) => {
  expect(() => settingsOf(args)).toThrow(message);
});

test("--help asks for nothing else", () => {
  expect(settingsOf(["--help"])).toBeUndefined();
});
