import { interposed, openPostgresStore, type Store } from "@engine/store";
import { startTestPostgres } from "@engine/store/test-postgres";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ManualTime } from "../testing/manual-time.ts";
import { Scheduled } from "./testing/scheduled.ts";

let postgres: Awaited<ReturnType<typeof startTestPostgres>>;

beforeAll(async () => {
  postgres = await startTestPostgres();
}, 60_000);

afterAll(() => postgres.stop());

/** Two servers on one database, both of which believe that they lead. */
async function two({ storeOfA = (store: Store): Store => store } = {}) {
  const url = await postgres.createDatabase();
  const time = new ManualTime();
  const open = () => openPostgresStore({ url, clock: time.clock });
  const a = await Scheduled.over(storeOfA(await open()), time);
  const b = await Scheduled.over(await open(), time);
  const schedulers = [await a.scheduler(), await b.scheduler()] as const;
  return {
    a,
    b,
    schedulers,
    /** The clock moves on, and both look at once. */
    async second() {
      time.now += 1000;
      await Promise.all(schedulers.map((scheduler) => scheduler.wake()));
    },
  };
}

test("EXE-75 EXE-100 two replicas start one run per instant", async () => {
  const { a, b, second } = await two();
  await using _first = a;
  await using _second = b;
  await a.create({ spec: { type: "interval", every_seconds: 1 }, overlap: "allow" });
  for (let n = 0; n < 12; n++) await second();
  const instants = await b.instants();
  expect(instants).toHaveLength(12);
  expect(new Set(instants).size).toBe(12);
  expect(await a.get()).toMatchObject({ run_count: 12, skip_count: 0, failure_count: 0 });
});

test("EXE-72 EXE-75 two replicas that catch up make each missed run once", async () => {
  const { a, b, second } = await two();
  await using _first = a;
  await using _second = b;
  const spec = { type: "interval", every_seconds: 60 } as const;
  await a.create({ spec, overlap: "allow", catch_up: "all" });
  a.time.now += 30 * 60_000;
  await second();
  expect(await b.instants()).toHaveLength(30);
  expect(await a.get()).toMatchObject({ run_count: 30, skip_count: 0 });
});

test("EXE-75 a run is counted once when its replica is slow and another moves the plan meanwhile", async () => {
  const isWaiting = Promise.withResolvers<void>();
  const mayGoOn = Promise.withResolvers<void>();
  /** It has started a run, and takes its time to say so in the schedule. */
  const slow = (store: Store): Store =>
    interposed(store, ({ name }, call) => {
      if (name !== "schedules.change") return undefined;
      return async (...args) => {
        isWaiting.resolve();
        await mayGoOn.promise;
        return call?.(...args);
      };
    });
  const { a, b, schedulers } = await two({ storeOfA: slow });
  await using _first = a;
  await using _second = b;
  const spec = { type: "interval", every_seconds: 60 } as const;
  await b.create({ spec, overlap: "allow", catch_up: "all" });
  a.time.now += 3 * 60_000;

  const first = schedulers[0].wake();
  await isWaiting.promise;
  await schedulers[1].wake();
  mayGoOn.resolve();
  await first;

  expect(await b.instants()).toHaveLength(3);
  expect(await b.get()).toMatchObject({ run_count: 3, skip_count: 0 });
});
