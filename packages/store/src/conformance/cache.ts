import type { CacheKey } from "@engine/contract";
import { expect, test } from "vitest";
import { type Open, opened } from "./opened.ts";
import { NOW } from "./sample.ts";

const key: CacheKey = {
  namespace: "default",
  task: "resize",
  version: "1",
  digest: "a".repeat(64),
};

export function conformance(open: Open): void {
  test("EXE-49a a cached output is found under all four parts of its key and no other", async () => {
    const store = await opened(open);
    await store.cache.keep(key, '{"width":3}', NOW + 1);
    expect(await store.cache.find({ ...key }, NOW)).toBe('{"width":3}');
    const others: Partial<CacheKey>[] = [
      { namespace: "shop" },
      { task: "crop" },
      { version: "2" },
      { digest: "b".repeat(64) },
    ];
    for (const other of others) {
      expect(await store.cache.find({ ...key, ...other }, NOW)).toBeUndefined();
    }
  });

  test("EXE-49a null is a hit like every other output", async () => {
    const store = await opened(open);
    await store.cache.keep(key, "null", NOW + 1);
    expect(await store.cache.find(key, NOW)).toBe("null");
  });

  test("EXE-49a an entry is a miss from the instant at which it expires", async () => {
    const store = await opened(open);
    await store.cache.keep(key, "1", NOW);
    expect(await store.cache.find(key, NOW - 1)).toBe("1");
    expect(await store.cache.find(key, NOW)).toBeUndefined();
  });

  test("EXE-49a the last output kept under a key is the one found, with its own end", async () => {
    const store = await opened(open);
    await Promise.all([store.cache.keep(key, "1", NOW + 10), store.cache.keep(key, "2", NOW + 5)]);
    expect(await store.cache.find(key, NOW)).toBe("2");
    expect(await store.cache.find(key, NOW + 5)).toBeUndefined();
    await store.cache.keep(key, "3", NOW + 20);
    expect(await store.cache.find(key, NOW + 5)).toBe("3");
  });

  test("expired entries are deleted, oldest first, no more at a time than asked for", async () => {
    const store = await opened(open);
    const keys = [0, 1, 2, 3].map((n) => ({ ...key, digest: String(n).repeat(64) }));
    await Promise.all(keys.map((each, n) => store.cache.keep(each, String(n), NOW + n)));
    expect(await store.cache.deleteExpired(NOW + 2, 2)).toBe(2);
    // At an instant before every end nothing has expired: what is missing was deleted.
    const left = await Promise.all(keys.map((each) => store.cache.find(each, NOW - 1)));
    expect(left).toEqual([undefined, undefined, "2", "3"]);
    expect(await store.cache.deleteExpired(NOW + 2, 2)).toBe(1);
    expect(await store.cache.deleteExpired(NOW + 2, 2)).toBe(0);
    expect(await store.cache.find(keys[3] ?? key, NOW + 2)).toBe("3");
  });
}
