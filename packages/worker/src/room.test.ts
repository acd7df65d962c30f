import { expect, test } from "vitest";
import { type Place, Room } from "./room.ts";

/** Who has a place, in the order in which they got it. */
function visitors(size: number) {
  const room = new Room({ bytes: size });
  const inside: string[] = [];
  const ask = (name: string, bytes: number): Place => {
    const place = room.ask({ bytes });
    void place.had.then(() => inside.push(name));
    return place;
  };
  return { room, inside, ask, settled: () => new Promise(setImmediate) };
}

test("a room is given in the order of asking, so that many small parts never keep a large one out", async () => {
  const { room, inside, ask, settled } = visitors(10);
  const first = ask("first", 6);
  ask("large", 9);
  const small = ask("small", 1);
  await settled();
  expect(inside).toEqual(["first"]);
  expect(room.isWaitedFor).toBe(true);
  first.leave();
  await settled();
  expect(inside).toEqual(["first", "large", "small"]);
  expect(room.isWaitedFor).toBe(false);
  small.leave();
});

test("where nothing is taken more than there is may be had, by one alone", async () => {
  const { inside, ask, settled } = visitors(10);
  const huge = ask("huge", 50);
  ask("next", 1);
  await settled();
  expect(inside).toEqual(["huge"]);
  huge.leave();
  await settled();
  expect(inside).toEqual(["huge", "next"]);
});

test("who leaves before its turn takes nothing, and who leaves twice gives back once", async () => {
  const { inside, ask, settled } = visitors(10);
  const first = ask("first", 8);
  const gone = ask("gone", 10);
  ask("third", 2);
  gone.leave();
  await settled();
  expect(inside).toEqual(["first", "third"]);
  first.leave();
  first.leave();
  ask("fourth", 8);
  ask("fifth", 1);
  await settled();
  expect(inside).toEqual(["first", "third", "fourth"]);
});
