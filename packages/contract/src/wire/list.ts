import * as z from "zod";
import { wholeNumber } from "./query-number.ts";

/** The shape of every list answer (NET-7). `total` counts all matches, not only this page. */
export function listOf<Item extends z.ZodType>(item: Item) {
  return z.object({ items: z.array(item), total: z.int(), limit: z.int(), offset: z.int() });
}

/** The same of a list that answers the rows its caller may read (AUTH-33). */
export function filteredListOf<Item extends z.ZodType>(item: Item) {
  return listOf(item).extend({
    auth_filtered: z
      .boolean()
      .describe("whether only what the caller may read was looked at, found something or not"),
  });
}

/** `limit` and `offset` of a list's query. */
export function paging(max: number, initial: number) {
  return {
    limit: wholeNumber({ min: 1, max }).prefault(initial).describe("at most so many"),
    offset: wholeNumber({ min: 0 }).prefault(0).describe("skips so many"),
  };
}

/** `true` or `false` as query text. */
export const QueryFlag = z
  .enum(["true", "false"], "must be true or false")
  .transform((text) => text === "true");

/** A key of a query that may be repeated: a list, also of one; undefined when it is absent. */
export function repeated<Item extends z.ZodType>(item: Item) {
  return z.preprocess(
    (value) => (value === undefined ? undefined : [value].flat()),
    z.array(item).optional(),
  );
}
