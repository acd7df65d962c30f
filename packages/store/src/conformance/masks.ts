import { expect, test } from "vitest";
import { type Open, opened } from "./opened.ts";
import { putSecret } from "./secrets.ts";

/** After whatever a test does, by whatever clock the store has. */
const LATER = Date.UTC(2100, 0, 1);

export function conformance(open: Open): void {
  test("RED-2 what is masked is read with what it takes to open it, once each", async () => {
    const store = await opened(open);
    await putSecret(store, "b");
    await putSecret(store, "a");
    await putSecret(store, "a", { key_id: "k2" });
    expect(await store.masks.list()).toEqual([
      { name: "a", version: 1, key_id: "k1", wrapped: "key of a 1", body: "body of a 1" },
      { name: "a", version: 2, key_id: "k2", wrapped: "key of a 2", body: "body of a 2" },
      { name: "b", version: 1, key_id: "k1", wrapped: "key of b 1", body: "body of b 1" },
    ]);
  });

  test("RED-2 AUTH-57 what was replaced long ago goes, a few at a time; what is current stays", async () => {
    const store = await opened(open);
    for (let n = 0; n < 4; n++) await putSecret(store, "a");
    const before = (await store.epochs.read()).masks;
    expect(await store.masks.deleteRetired(1, 10)).toBe(0);
    expect((await store.epochs.read()).masks).toBe(before);
    expect(await store.masks.deleteRetired(LATER, 2)).toBe(2);
    expect((await store.masks.list()).map(({ version }) => version)).toEqual([3, 4]);
    expect((await store.epochs.read()).masks).toBe(before + 1);
    expect(await store.masks.deleteRetired(LATER, 2)).toBe(1);
    expect((await store.masks.list()).map(({ version }) => version)).toEqual([4]);
    expect(await store.secrets.find("a")).toMatchObject({ version: 4 });
  });
}
