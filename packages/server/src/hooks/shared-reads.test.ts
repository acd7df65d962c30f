import { expect, test } from "vitest";
import { SharedReads } from "./shared-reads.ts";

test("who asks for the same in one turn shares a read that begins behind them, who asks later has another", async () => {
  const reads = new SharedReads();
  let now = 1;
  const asked: string[] = [];
  const ask = (key: string) =>
    reads.share(key, async () => {
      asked.push(key);
      return now;
    });
  const first = [ask("a"), ask("b"), ask("a")];
  now = 2;
  expect(await Promise.all(first)).toEqual([2, 2, 2]);
  expect(asked).toEqual(["a", "b"]);
  now = 3;
  expect(await ask("a")).toBe(3);
});

test("a read that fails fails for all who share it, and is tried again by the next", async () => {
  const reads = new SharedReads();
  const fail = () => reads.share("a", () => Promise.reject(new Error("away")));
  const all = await Promise.allSettled([fail(), fail()]);
  expect(all.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(await reads.share("a", async () => 1)).toBe(1);
});
