import { expect, test } from "vitest";
import { ManualTime } from "../testing/manual-time.ts";
import { Silence } from "./silence.ts";

function listen() {
  const time = new ManualTime();
  const silence = new Silence({ ...time, longestMs: 30_000 });
  let isTooLong = false;
  void silence.tooLong.then(() => {
    isTooLong = true;
  });
  return { time, silence, isTooLong: () => isTooLong };
}

test("WRK-8 it is too long as soon as nothing was heard for the whole time", async () => {
  const { time, silence, isTooLong } = listen();
  await time.advance(20_000);
  expect(silence.heard()).toBe(true);
  await time.advance(29_999);
  expect(isTooLong()).toBe(false);
  await time.advance(1);
  expect(isTooLong()).toBe(true);
});

test("WRK-8 what is heard first after a stop counts by the time that has passed", async () => {
  const { time, silence, isTooLong } = listen();
  time.jump(30_000);
  expect(silence.heard()).toBe(false);
  await silence.tooLong;
  expect(isTooLong()).toBe(true);
  expect(silence.heard()).toBe(false);
});
