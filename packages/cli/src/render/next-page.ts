import { lines } from "./table.ts";

export interface Page<Item> {
  readonly items: readonly Item[];
  readonly total: number;
  readonly offset: number;
}

/**
 * Says when a list is longer than what was printed, and which option gives the rest.
 *
 * @param option By default how many to skip.
 */
export function nextPage(page: Page<unknown>, option?: string): string {
  const shown = page.offset + page.items.length;
  if (shown >= page.total) return "";
  return lines([`${page.total - shown} more; continue with ${option ?? `--offset ${shown}`}`]);
}
