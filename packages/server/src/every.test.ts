import { expect, test } from "vitest";
import { every } from "./every.ts";
import { ManualTime, settled } from "./testing/manual-time.ts";

test("it runs again so long after the end of the last run, and not once it was ended", async () => {
  const time = new ManualTime();
  const runs: (() => void)[] = [];
  const end = every(time.setTimer, { firstMs: 0, ms: 100 }, () => {
    const run = Promise.withResolvers<void>();
    runs.push(run.resolve);
    return run.promise;
  });
  await time.advance(0);
  await time.advance(1_000);
  expect(runs).toHaveLength(1);
  runs[0]?.();
  await settled();
  await time.advance(99);
  expect(runs).toHaveLength(1);
  await time.advance(1);
  expect(runs).toHaveLength(2);
  // Ended while a run is under way.
  end();
  runs[1]?.();
  await settled();
  await time.advance(1_000);
  expect(runs).toHaveLength(2);
});
