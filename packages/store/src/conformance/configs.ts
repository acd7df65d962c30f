import { expect, test } from "vitest";
import type { NewConfig } from "../ports/configs.ts";
import { auditOf, identityWrite } from "./identity.ts";
import { type Open, opened } from "./opened.ts";

const page = { limit: 100, offset: 0 };

function newConfig(name: string, fields: Partial<NewConfig> = {}): NewConfig {
  return { name, value: `value of ${name}`, updated_by: "ann", ...fields };
}

export function conformance(open: Open): void {
  test("SEC-4 a config is read as it was written, and listed without its value", async () => {
    const store = await opened(open);
    expect(await store.configs.find("region")).toBeUndefined();
    const value = { 'ü "quoted"': [1, true, null, "x"] };
    const info = await store.configs.put(newConfig("region", { value, description: "where" }));
    expect(info).toEqual({
      ...{ name: "region", version: 1, description: "where", updated_by: "ann" },
      ...{ created_at: info.updated_at, updated_at: info.created_at },
    });
    expect(await store.configs.find("region")).toEqual({ ...info, value });
    expect(await store.configs.list(page)).toEqual({ items: [info], total: 1 });
    const again = await store.configs.put(newConfig("region", { value: 7, updated_by: null }));
    expect(again).toMatchObject({ version: 2, description: "where", updated_by: null });
    expect(again.created_at).toBe(info.created_at);
    expect(await store.configs.put(newConfig("region", { description: null }))).toMatchObject({
      ...{ version: 3, description: null },
    });
    expect(await store.configs.delete("region")).toBe(true);
    expect(await store.configs.delete("region")).toBe(false);
    expect(await store.configs.find("region")).toBeUndefined();
  });

  test("SEC-4 configs are listed by name, page by page, or only some", async () => {
    const store = await opened(open);
    for (const name of ["b", "B", "_a"]) await store.configs.put(newConfig(name));
    const names = async (filter: object) => {
      const { items, total } = await store.configs.list({ ...page, ...filter });
      return [items.map(({ name }) => name), total];
    };
    expect(await names({})).toEqual([["B", "_a", "b"], 3]);
    expect(await names({ limit: 1, offset: 1 })).toEqual([["_a"], 3]);
    expect(await names({ names: ["b", "other"] })).toEqual([["b"], 1]);
    expect((await store.configs.findAll(["b", "other"])).map(({ value }) => value)).toEqual([
      "value of b",
    ]);
  });

  test("SEC-4 of those that know a version one changes it; 0 is none", async () => {
    const store = await opened(open);
    const put = (if_version: number) => store.configs.put(newConfig("a", { if_version }));
    await expect(put(1)).rejects.toMatchObject({ code: "conflict", details: { version: null } });
    const raced = async (version: number) => {
      const settled = await Promise.allSettled([put(version), put(version), put(version)]);
      return settled.filter(({ status }) => status === "fulfilled").length;
    };
    expect(await raced(0)).toBe(1);
    expect(await raced(1)).toBe(1);
    await expect(put(1)).rejects.toMatchObject({ code: "conflict", details: { version: 2 } });
    await expect(put(0)).rejects.toMatchObject({ code: "conflict" });
    expect(await store.configs.find("a")).toMatchObject({ version: 2 });
  });

  test("AUD-2 every change is in the audit log, with what it is about but not its value", async () => {
    const store = await opened(open);
    const entry = (action: string) => identityWrite(action, { target: "a" }).entry;
    await store.configs.put(newConfig("a"), entry("configs.put"));
    const late = store.configs.put(newConfig("a", { if_version: 9 }), entry("refused"));
    await expect(late).rejects.toMatchObject({ code: "conflict" });
    await store.configs.delete("a", entry("configs.delete"));
    await store.configs.delete("a", entry("too late"));
    expect(await auditOf(store)).toEqual([
      {
        ...{ action: "configs.put", target: "a" },
        changes: { version: { before: null, after: 1 } },
      },
      {
        ...{ action: "configs.delete", target: "a" },
        changes: { version: { before: 1, after: null } },
      },
    ]);
  });
}
