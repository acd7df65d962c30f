import type { Command } from "commander";
import { wholeNumber } from "./arguments/option-values.ts";
import type { Page } from "./render/next-page.ts";

/** Options of a list that shows everything unless a part of it is asked for. */
export interface PartOptions {
  readonly limit?: number;
  readonly offset: number;
}

export function partOptions(command: Command): Command {
  return command
    .option("--limit <n>", "at most so many (default: all)", wholeNumber(1))
    .option("--offset <n>", "skip so many", wholeNumber(0), 0);
}

interface Place {
  readonly limit: number;
  readonly offset: number;
}

/** Whether a list shows only what its caller may see (AUTH-33). */
interface Filtered {
  readonly auth_filtered?: boolean;
}

interface ServerPage<Item> extends Filtered {
  readonly items: readonly Item[];
  readonly total: number;
}

/**
 * What was asked for of a list, as one page of it, however often the server must be asked.
 *
 * @param perPage The most that the server answers at once.
 */
export async function allPages<Item>(
  { limit = Number.MAX_SAFE_INTEGER, offset }: PartOptions,
  page: (place: Place) => Promise<ServerPage<Item>>,
  perPage = 1000,
): Promise<Page<Item> & Place & Filtered> {
  const items: Item[] = [];
  for (;;) {
    const place = {
      limit: Math.min(perPage, limit - items.length),
      offset: offset + items.length,
    };
    const { items: found, total, auth_filtered } = await page(place);
    items.push(...found);
    if (found.length < place.limit || items.length === limit) {
      const filtered = auth_filtered === undefined ? {} : { auth_filtered };
      return { items, total, limit: items.length, offset, ...filtered };
    }
  }
}
