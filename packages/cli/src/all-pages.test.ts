import { expect, test } from "vitest";
import { allPages } from "./all-pages.ts";

/** A list of so many numbers on a server that answers 1,000 at most; and what it was asked for. */
function listOf(total: number) {
  const asked: [limit: number, offset: number][] = [];
  const page = async ({ limit, offset }: { limit: number; offset: number }) => {
    asked.push([limit, offset]);
    expect(limit).toBeLessThanOrEqual(1000);
    const length = Math.max(0, Math.min(limit, total - offset));
    return { items: Array.from({ length }, (_, i) => offset + i), total };
  };
  return { asked, page };
}

test("everything is listed, also what lies past the server's longest page", async () => {
  const { asked, page } = listOf(2500);
  const all = await allPages({ offset: 0 }, page);
  expect(all.items).toEqual(Array.from({ length: 2500 }, (_, i) => i));
  expect(all).toMatchObject({ total: 2500, limit: 2500, offset: 0 });
  expect(asked).toEqual([
    [1000, 0],
    [1000, 1000],
    [1000, 2000],
  ]);
});

test("a part is asked for and no more; an end on the border of a page is found", async () => {
  const part = listOf(2500);
  expect((await allPages({ limit: 1200, offset: 100 }, part.page)).items).toHaveLength(1200);
  expect(part.asked).toEqual([
    [1000, 100],
    [200, 1100],
  ]);
  const border = listOf(1000);
  expect((await allPages({ offset: 0 }, border.page)).items).toHaveLength(1000);
});
