import { expect, test } from "vitest";
import { Reservations } from "./reservations.ts";

const ONE = { cpu: 1 };

/** Reservations of a budget of so many cores, and who has been given room so far. */
function createReservations(cpu: number) {
  const reservations = new Reservations({ cpu });
  const given: string[] = [];
  const refused: string[] = [];
  const reserve = (copy: number, call: string, requests = ONE) =>
    void reservations.reserve(copy, call, requests).then(
      () => given.push(`${copy} ${call}`),
      () => refused.push(`${copy} ${call}`),
    );
  return { reservations, reserve, given, refused };
}

/** Lets everything happen that needs no more than microtasks. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

test("RES-4 copies share one budget; what a call releases is given to whoever came next", async () => {
  const { reservations, reserve, given } = createReservations(1);
  for (const copy of [1, 2, 3]) reserve(copy, "work~1");
  await settle();
  expect(given).toEqual(["1 work~1"]);
  reservations.release(1, "work~1");
  reservations.release(1, "work~1");
  await settle();
  expect(given).toEqual(["1 work~1", "2 work~1"]);
});

test("RES-4 a copy that is over keeps nothing: neither room nor a place in the queue", async () => {
  const { reservations, reserve, given, refused } = createReservations(2);
  reserve(1, "a~1");
  reserve(1, "b~1");
  reserve(1, "c~1");
  reserve(2, "a~1", { cpu: 2 });
  await settle();
  expect(given).toEqual(["1 a~1", "1 b~1"]);
  reservations.releaseAll(1);
  await settle();
  expect(given.slice(2)).toEqual(["2 a~1"]);
  expect(refused).toEqual(["1 c~1"]);
});

test("RES-4 room that is released in the moment it is given is not lost", async () => {
  const { reservations, reserve, given } = createReservations(1);
  reserve(1, "a~1");
  reserve(2, "a~1");
  await settle();
  reservations.release(1, "a~1");
  reservations.release(2, "a~1");
  reserve(3, "a~1");
  await settle();
  expect(given).toEqual(["1 a~1", "3 a~1"]);
});

test("RES-4 what is taken back is taken at once, and later ones wait until there is room again", async () => {
  const { reservations, reserve, given } = createReservations(1);
  reserve(1, "a~1");
  await settle();
  reservations.retake(2, "b~1", ONE);
  reservations.release(1, "a~1");
  reserve(3, "c~1");
  await settle();
  expect(given).toEqual(["1 a~1"]);
  reservations.release(2, "b~1");
  await settle();
  expect(given).toEqual(["1 a~1", "3 c~1"]);
});
