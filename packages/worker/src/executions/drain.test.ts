import { expect, test } from "vitest";
import { ManualTime } from "../testing/manual-time.ts";
import { Copies } from "./copy.ts";
import { Drain } from "./drain.ts";

const MINUTE = 60_000;

/** A drain of some executions, and what it did so far. */
function createDrain(held = 1) {
  const time = new ManualTime();
  const copies = new Copies();
  const fresh = { module_hash: "m", name: null, generation: 1, seq: 1, listening: false };
  for (let n = 0; n < held; n++) copies.add({ ...fresh, execution_id: `e${n}` });
  const done: string[] = [];
  const note = (what: string) => () => void done.push(`${time.monotonic() / 1000} ${what}`);
  const drain = new Drain({
    copies,
    ...time,
    begin: note("begin"),
    startNothing: note("start nothing"),
    releaseAll: note("release all"),
  });
  return { time, copies, drain, done };
}

test("WRK-12 after half of the time no task starts, and at its end everything goes", async () => {
  const { time, drain, done } = createDrain();
  const over = drain.within(MINUTE);
  await time.advance(MINUTE);
  await over;
  expect(done).toEqual(["0 begin", "30 start nothing", "60 release all"]);
});

test("WRK-12 a drain is over as soon as nothing is held", async () => {
  const { time, copies, drain, done } = createDrain();
  const over = drain.within(MINUTE);
  await time.advance(MINUTE / 4);
  for (const copy of copies.all()) copies.remove(copy);
  await over;
  expect(done).toEqual(["0 begin"]);
});

test("WRK-12 a drain in no time releases at once", async () => {
  const { drain, done } = createDrain();
  await drain.within(0);
  expect(done).toEqual(["0 begin", "0 start nothing", "0 release all"]);
});

test("WRK-12 a second drain can only bring the end nearer", async () => {
  const { time, drain, done } = createDrain();
  const over = drain.within(MINUTE);
  await time.advance(10_000);
  void drain.within(10 * MINUTE);
  void drain.within(20_000);
  await time.advance(20_000);
  await over;
  expect(done).toEqual(["0 begin", "20 start nothing", "30 release all"]);
});
