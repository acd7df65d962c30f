import type { Store } from "@engine/store";
import { expect, test } from "vitest";
import { settled } from "../testing/manual-time.ts";
import { HookMasks } from "./hook-masks.ts";

/** Hooks of which this server hears by the news alone, as on PostgreSQL. */
class Elsewhere {
  /** Of another server. */
  hasHook = false;
  isAway = false;
  readonly warned: string[] = [];
  readonly timers: (() => void)[] = [];
  asked = 0;
  #told = () => {};
  #known = false;

  constructor() {
    const parent = this;
    const outbox = {
      get hasHooks() {
        return parent.#known;
      },
      redactWith() {},
      async refresh() {
        await settled();
        if (parent.isAway) throw new Error("the database is away");
        parent.#known = parent.hasHook;
      },
    };
    new HookMasks({
      ports: {
        store: { outbox } as unknown as Store,
        log: {
          debug() {},
          info() {},
          error() {},
          warn: (_, said) => void this.warned.push(said ?? ""),
        },
        setTimer: (run) => {
          this.timers.push(run);
          return () => {};
        },
      },
      masks: {
        known: () => undefined,
        current: async () => {
          this.asked++;
          throw new Error("nothing can be read");
        },
      },
      epochs: {
        onChange: (_, then) => {
          this.#told = then;
          return () => {};
        },
      },
    });
  }

  async hears(): Promise<void> {
    this.#told();
    await settled();
    await settled();
  }
}

test("HOOK-16 what is masked is kept known from the first hook on that another server has made", async () => {
  const server = new Elsewhere();
  await server.hears();
  expect(server.timers).toHaveLength(0);
  server.hasHook = true;
  await server.hears();
  expect(server.timers).toHaveLength(1);
  expect(server.asked).toBe(1);
});

test("HOOK-12 hooks that cannot be read when they change are read before they are too old, and the server goes on", async () => {
  const server = new Elsewhere();
  server.isAway = true;
  await server.hears();
  expect(server.warned).toEqual(["could not read which hooks have changed"]);
  server.isAway = false;
  server.hasHook = true;
  await server.hears();
  expect(server.timers).toHaveLength(1);
});
