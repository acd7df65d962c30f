import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { MachineTrouble } from "./machine-trouble.ts";
import { HashMismatch, ModuleCache } from "./module-cache.ts";

const hashOf = (text: string) => createHash("sha256").update(text).digest("hex");

function createFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "engine-modules-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function createCache({ size = 64, used = [] as string[], folder = createFolder() } = {}) {
  const bundles = new Map<string, string[]>();
  const fetches: string[] = [];
  const cache = new ModuleCache({
    folder,
    size,
    clock: Date.now,
    isUsed: (hash) => used.includes(hash),
    async fetch(hash) {
      fetches.push(hash);
      const texts = bundles.get(hash) ?? [];
      const text = texts.length > 1 ? texts.shift() : texts[0];
      if (text === undefined) throw new Error("no such module");
      return text;
    },
  });
  const add = (...texts: [string, ...string[]]) => {
    const hash = hashOf(texts.at(-1) ?? "");
    bundles.set(hash, texts);
    return hash;
  };
  return { cache, fetches, add };
}

test("RUN-4 concurrent misses fetch once and the file holds the bundle", async () => {
  const { cache, fetches, add } = createCache();
  const hash = add("export {};");
  await Promise.all([cache.ensure(hash), cache.ensure(hash), cache.ensure(hash)]);
  await cache.ensure(hash);
  expect(fetches).toEqual([hash]);
  expect(readFileSync(cache.file(hash), "utf8")).toBe("export {};");
});

test("RUN-4 a file whose content is wrong, or that was removed, is fetched anew", async () => {
  const { cache, fetches, add } = createCache();
  const hash = add("export {};");
  writeFileSync(cache.file(hash), "export { stolen };");
  await cache.ensure(hash);
  expect(readFileSync(cache.file(hash), "utf8")).toBe("export {};");
  rmSync(cache.file(hash));
  await cache.ensure(hash);
  expect(fetches).toEqual([hash, hash]);
});

test("LIV-6 a bundle with a wrong hash is fetched once more, then refused", async () => {
  const { cache, fetches, add } = createCache();
  const damagedOnce = add("damaged on the way", "export { whole };");
  await cache.ensure(damagedOnce);
  expect(fetches).toEqual([damagedOnce, damagedOnce]);

  const wrong = add("damaged", "damaged again", "export {};");
  await expect(cache.ensure(wrong)).rejects.toThrow(HashMismatch);
  expect(existsSync(cache.file(wrong))).toBe(false);
});

test("a failed fetch is not remembered", async () => {
  const { cache, add } = createCache();
  const hash = hashOf("export {};");
  await expect(cache.ensure(hash)).rejects.toThrow("no such module");
  add("export {};");
  await cache.ensure(hash);
});

test("a hash that is none never becomes a path", async () => {
  const { cache, fetches } = createCache();
  await expect(cache.ensure("../../etc/passwd")).rejects.toThrow(/64 hex digits/);
  expect(fetches).toEqual([]);
});

test("RUN-4 the least recently used file goes first, and none that is in use", async () => {
  const used: string[] = [];
  const { cache, add } = createCache({ size: 2, used });
  const [a, b, c, d] = ["a", "b", "c", "d"].map((text) => add(text)) as [
    string,
    string,
    string,
    string,
  ];
  const left = () => [a, b, c, d].filter((hash) => existsSync(cache.file(hash)));
  await cache.ensure(a);
  await cache.ensure(b);
  await cache.ensure(a);
  await cache.ensure(c);
  expect(left()).toEqual([a, c]);
  used.push(a);
  await cache.ensure(d);
  expect(left()).toEqual([a, d]);
});

test("RUN-4 what an earlier life of the worker left counts too, by when it was used last", async () => {
  const folder = createFolder();
  const old = createCache({ folder });
  const hashes = ["a", "b", "c"].map((text) => old.add(text)) as [string, string, string];
  for (const hash of hashes) await old.cache.ensure(hash);
  for (const [i, hash] of hashes.entries()) utimesSync(old.cache.file(hash), i, i);
  const draft = `${old.cache.file(hashes[0])}.0123.tmp`;
  writeFileSync(draft, "half");
  utimesSync(draft, 0, 0);

  const { cache, fetches, add } = createCache({ size: 3, folder });
  add("a");
  await cache.ensure(hashes[0]);
  const d = add("d");
  await cache.ensure(d);
  expect(fetches).toEqual([d]);
  expect(readdirSync(folder).sort()).toEqual(
    [hashes[0], hashes[2], d].map((hash) => `${hash}.mjs`).sort(),
  );
});

test("I17 what cannot be removed from the folder keeps no bundle from being used", async () => {
  const folder = createFolder();
  const hash = hashOf("old");
  // Neither a draft nor a bundle that is a folder can be removed like a file.
  for (const name of [`${hash}.mjs`, `${hash}.mjs.0123.tmp`]) {
    mkdirSync(join(folder, name));
    utimesSync(join(folder, name), 0, 0);
  }
  const { cache, add } = createCache({ size: 1, folder });
  for (const text of ["a", "b"]) {
    const fresh = add(text);
    await cache.ensure(fresh);
    expect(readFileSync(cache.file(fresh), "utf8")).toBe(text);
  }
});

test("RUN-4 a bundle that cannot be kept leaves nothing half written, and is kept later without another fetch", async () => {
  const { cache, fetches, add } = createCache();
  const hash = add("export {};");
  // Only what is no folder is replaced by a file.
  mkdirSync(cache.file(hash));
  const trouble = await cache.ensure(hash).catch((error: unknown) => error);
  expect(trouble).toBeInstanceOf(MachineTrouble);
  const folder = dirname(cache.file(hash));
  expect(readdirSync(folder)).toEqual([`${hash}.mjs`]);
  await expect((trouble as MachineTrouble).tryAgain()).rejects.toThrow();
  rmSync(cache.file(hash), { recursive: true });
  await (trouble as MachineTrouble).tryAgain();
  await cache.ensure(hash);
  expect(fetches).toEqual([hash]);
});

test("RUN-4 a fetch for which there is no handle is the machine's trouble, any other one its own", async () => {
  const none = Object.assign(new Error("too many open files"), { code: "EMFILE" });
  const failing = (error: Error) =>
    new ModuleCache({
      folder: createFolder(),
      size: 64,
      clock: Date.now,
      isUsed: () => false,
      fetch: () => Promise.reject(error),
    }).ensure(hashOf("export {};"));
  await expect(failing(new TypeError("fetch failed", { cause: none }))).rejects.toThrow(
    MachineTrouble,
  );
  await expect(failing(new TypeError("refused"))).rejects.toThrow(TypeError);
});
