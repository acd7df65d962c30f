import { expect, test } from "vitest";
import * as z from "zod";
import { uuidV7 } from "./uuid-v7.ts";

test("an id is a UUIDv7, and later ids sort after earlier ones", () => {
  const early = uuidV7(Date.UTC(2026, 0, 1), new Uint8Array(10).fill(255));
  const late = uuidV7(Date.UTC(2026, 0, 1) + 1, new Uint8Array(10));
  expect(z.uuidv7().parse(early)).toMatch(/-7fff-bfff-ffffffffffff$/);
  expect(z.uuidv7().parse(late)).toMatch(/-7000-8000-000000000000$/);
  expect(late > early).toBe(true);
});
