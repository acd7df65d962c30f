import type { Store } from "@engine/store";
import { expect, test } from "vitest";
import { settled } from "../testing/manual-time.ts";
import { readHooksOnNews } from "./hook-news.ts";

test("HOOK-12 hooks of which the news tells are read; where they cannot be, the log says so and the server goes on", async () => {
  let tell = () => {};
  let isAway = false;
  let read = 0;
  const warned: (string | undefined)[] = [];
  const outbox = {
    async refresh() {
      if (isAway) throw new Error("the database is away");
      read++;
    },
  };
  const quiet = () => {};
  readHooksOnNews({
    ports: {
      store: { outbox } as unknown as Store,
      log: { debug: quiet, info: quiet, error: quiet, warn: (_, said) => void warned.push(said) },
    },
    epochs: {
      onChange: (_, then) => {
        tell = then;
        return quiet;
      },
    },
  });
  tell();
  await settled();
  expect([read, warned]).toEqual([1, []]);
  isAway = true;
  tell();
  await settled();
  expect([read, warned]).toEqual([1, ["could not read which hooks have changed"]]);
});
