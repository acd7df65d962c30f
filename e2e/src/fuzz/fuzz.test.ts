import { expect, test } from "vitest";
import { fuzz } from "./fuzz.ts";
import { settingsOf } from "./settings.ts";

test("NET-3 NET-7 whatever is sent, a real server answers as its document says, tells nothing of its inside and stays sound", {
  timeout: 300_000,
}, async () => {
  const settings = settingsOf(["--requests", "3000", "--seed", "12"]);
  if (!settings) throw new Error("these are settings");
  const { findings, statuses, executions } = await fuzz(settings, () => {});
  expect(findings).toEqual([]);
  expect(executions).toBeGreaterThan(50);
  // It gets behind the door: right requests are among the wrong ones.
  for (const status of [200, 202, 400, 404, 405, 409, 422])
    expect([...statuses.keys()]).toContain(status);
});

test("what cannot be an option is refused by its name", () => {
  expect(() => settingsOf(["--requests", "0x10"])).toThrow("--requests is a whole number from 1");
  expect(() => settingsOf(["--store", "mysql"])).toThrow("--store is sqlite or postgres");
  expect(settingsOf(["--help"])).toBeUndefined();
});
