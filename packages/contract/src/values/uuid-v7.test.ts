import { expect, test } from "vitest";
import * as z from "zod";
import { createUuidV7 } from "./uuid-v7.ts";

test("ids are UUIDv7 and sort by creation, also within a millisecond and when the clock steps back", () => {
  let now = Date.UTC(2026, 0, 1);
  let made = 0;
  const randomUuid = () => `00000000-0000-4000-8000-${String(made++).padStart(12, "0")}`;
  const next = createUuidV7(() => now, randomUuid);
  const ids = Array.from({ length: 10_000 }, (_, i) => {
    if (i === 5_000) now -= 60_000;
    return next();
  });
  expect(ids.toSorted()).toEqual(ids);
  expect(new Set(ids).size).toBe(ids.length);
  for (const id of ids) z.uuidv7().parse(id);
});
