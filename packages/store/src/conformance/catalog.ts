import { ExtractedWorkflow, parseInstant } from "@engine/contract";
import { expect, test } from "vitest";
import type { NewVersions } from "../ports/catalog.ts";
import type { Visible } from "../visible.ts";
import { type Open, opened } from "./opened.ts";
import { unusedVersionConformance } from "./unused-versions.ts";

export function conformance(open: Open): void {
  unusedVersionConformance(open);

  test("EXE-68 a registered version can be read: record, files and module", async () => {
    const store = await opened(open);
    const files = [
      { path: "hello.ts", source: "export const hello = 1" },
      { path: "lib/a.ts", source: "" },
    ];
    const [registered] = await store.catalog.register({ ...registration("hello", "c1"), files });
    expect(registered).toMatchObject({ namespace: "default", name: "hello", version: 1 });
    expect(registered).toMatchObject({ created: true, content_hash: "c1", created_by: "ann" });
    expect(parseInstant(registered?.created_at ?? "")).toBeGreaterThan(0);
    expect(registered).toMatchObject(extracted("hello"));

    const { created: _, ...record } = registered ?? { created: true };
    const found = { record, module_hash: "module-of-c1" };
    expect(await store.catalog.find("default", "hello")).toEqual(found);
    expect(await store.catalog.find("default", "hello", 1)).toEqual(found);
    expect(await store.catalog.readFiles("default", "hello", 1)).toEqual(files);
    expect(await store.catalog.readModule("module-of-c1")).toBe("bundle of c1");
  });

  test("AFF-7 RTE-7 FLW-1 a version keeps its affinity, routing and limits as they were read, terms of a later release included", async () => {
    const store = await opened(open);
    const key = { kind: "input", path: "tenant" } as const;
    const declared = {
      affinity: [{ kind: "later", text: "a\u0000\ud800" }, { kind: "match" }],
      routing: { terms: [{ kind: "sticky", weight: 0.1 }] },
      limits: [{ kind: "concurrency", count: 2, key }],
      priority: -3,
      fairness: { key, weight: 2 },
    } as const;
    const { workflows, ...rest } = registration("hello", "c1");
    const [first] = workflows;
    if (!first) throw new Error("no workflow");
    const extracted = ExtractedWorkflow.parse({ ...first.extracted, ...declared });
    await store.catalog.register({ ...rest, workflows: [{ ...first, extracted }] });
    const found = await store.catalog.find("default", "hello");
    expect(found?.record).toMatchObject(declared);
  });

  test("what was never registered is not found", async () => {
    const store = await opened(open);
    await store.catalog.register(registration("hello", "c1"));
    expect(await store.catalog.find("default", "bye")).toBeUndefined();
    expect(await store.catalog.find("other", "hello")).toBeUndefined();
    expect(await store.catalog.find("default", "hello", 2)).toBeUndefined();
    expect(await store.catalog.readFiles("default", "hello", 2)).toEqual([]);
    expect(await store.catalog.readModule("nothing")).toBeUndefined();
  });

  test("EXE-67 equal content makes no version; content of an older one makes a new one", async () => {
    const store = await opened(open);
    const register = async (content_hash: string) => {
      const [item] = await store.catalog.register(registration("hello", content_hash));
      return [item?.version, item?.created];
    };
    expect(await register("c1")).toEqual([1, true]);
    expect(await register("c1")).toEqual([1, false]);
    expect(await register("c2")).toEqual([2, true]);
    expect(await register("c1")).toEqual([3, true]);
    const versions = await store.catalog.listVersions("default", "hello", { limit: 2, offset: 0 });
    expect(versions.total).toBe(3);
    expect(versions.items.map((v) => [v.version, v.content_hash])).toEqual([
      [3, "c1"],
      [2, "c2"],
    ]);
    expect((await store.catalog.find("default", "hello", 1))?.record.content_hash).toBe("c1");
    expect((await store.catalog.find("default", "hello"))?.record.version).toBe(3);
  });

  test("EXE-67 registrations that race get dense versions, and one of equal ones creates", async () => {
    const store = await opened(open);
    const contents = ["a", "a", "b", "b", "c", "c"];
    const all = await Promise.all(
      contents.map((hash) => store.catalog.register(registration("hello", hash))),
    );
    const created = all.flat().filter((item) => item.created);
    expect(created.map((item) => item.version)).toEqual([1, 2, 3]);
    expect(created.map((item) => item.content_hash)).toEqual(["a", "b", "c"]);
  });

  test("EXE-66 a dry run answers as the registration would, and writes nothing", async () => {
    const store = await opened(open);
    const [first] = await store.catalog.register(registration("hello", "c1"), { dryRun: true });
    expect(first).toMatchObject({ version: 1, created: true, ...extracted("hello") });
    expect(await store.catalog.find("default", "hello")).toBeUndefined();
    expect(await store.catalog.readModule("module-of-c1")).toBeUndefined();

    await store.catalog.register(registration("hello", "c1"));
    await store.catalog.register(registration("hello", "c2"));
    await store.catalog.delete("default", "hello", 2);
    const [equal] = await store.catalog.register(registration("hello", "c1"), { dryRun: true });
    expect(equal).toMatchObject({ version: 1, created: false });
    const [next] = await store.catalog.register(registration("hello", "c2"), { dryRun: true });
    expect(next).toMatchObject({ version: 3, created: true });
  });

  test("a file with several workflows is registered in one go", async () => {
    const store = await opened(open);
    const one = registration("one", "c1");
    const two = { extracted: extracted("two"), content_hash: "c2" };
    const items = await store.catalog.register({ ...one, workflows: [...one.workflows, two] });
    expect(items.map((item) => [item.name, item.version])).toEqual([
      ["one", 1],
      ["two", 1],
    ]);
  });

  test("EXE-67 a file with thousands of workflows is registered in one go, and what changed of it again", async () => {
    const store = await opened(open);
    const file = registration("any", "c");
    const workflows = (changed: number) =>
      Array.from({ length: 2_100 }, (_, i) => ({
        extracted: extracted(`w${i}`),
        content_hash: i === changed ? "new" : `c${i}`,
      }));
    const first = await store.catalog.register({ ...file, workflows: workflows(-1) });
    expect(first.map(({ name, version }) => `${name}@${version}`)).toEqual(
      workflows(-1).map(({ extracted: { name } }) => `${name}@1`),
    );
    const again = await store.catalog.register({ ...file, workflows: workflows(2_050) });
    expect(again.filter(({ created }) => created).map(({ name }) => name)).toEqual(["w2050"]);
    expect(await store.catalog.readModule(file.module.hash)).toBe(file.module.bundle);
    expect((await store.catalog.find("default", "w2050"))?.record).toMatchObject({ version: 2 });
    expect((await store.catalog.find("default", "w7"))?.record).toMatchObject({
      ...extracted("w7"),
      version: 1,
      content_hash: "c7",
    });
  });

  test("workflows are listed by their latest version, namespaces with their count", async () => {
    const store = await opened(open);
    await store.catalog.register(registration("hello", "c1"));
    await store.catalog.register(registration("hello", "c2"));
    await store.catalog.register(registration("help", "c3"));
    await store.catalog.register(registration("Hey_%", "c4"));
    await store.catalog.register(registration("order", "c5", "shop"));
    const list = async (filter: object) => {
      const page = await store.catalog.listWorkflows({ limit: 50, offset: 0, ...filter });
      return [page.items.map((w) => `${w.namespace}/${w.name}@${w.version}`), page.total];
    };
    const all = ["default/Hey_%@1", "default/hello@2", "default/help@1", "shop/order@1"];
    expect(await list({})).toEqual([all, 4]);
    expect(await list({ limit: 2, offset: 1 })).toEqual([all.slice(1, 3), 4]);
    expect(await list({ namespace: "shop" })).toEqual([["shop/order@1"], 1]);
    expect(await list({ name: "hel" })).toEqual([["default/hello@2", "default/help@1"], 2]);
    expect(await list({ name: "Hey_%" })).toEqual([["default/Hey_%@1"], 1]);
    expect(await list({ name: "%" })).toEqual([[], 0]);
    expect(await store.catalog.listNamespaces({ limit: 1, offset: 0 })).toEqual({
      items: [{ namespace: "default", workflow_count: 3 }],
      total: 2,
    });
    expect(await store.catalog.listNamespaces({ limit: 5, offset: 1 })).toEqual({
      items: [{ namespace: "shop", workflow_count: 1 }],
      total: 2,
    });
  });

  test("AUTH-33 workflows and namespaces are listed and counted as far as they may be seen", async () => {
    const store = await opened(open);
    await store.catalog.register(registration("hello", "c1"));
    await store.catalog.register(registration("hello", "c2"));
    await store.catalog.register(registration("pay", "c3", "shop"));
    await store.catalog.register(registration("refund", "c4", "shop"));
    await store.catalog.register(registration("pay", "c5", "bank"));
    const list = async (visible: Visible, filter: object = {}) => {
      const page = { limit: 50, offset: 0, visible };
      const workflows = await store.catalog.listWorkflows({ ...page, ...filter });
      const namespaces = await store.catalog.listNamespaces(page);
      return [
        workflows.items.map(({ namespace, name }) => `${namespace}/${name}`),
        workflows.total,
        namespaces.items.map((row) => `${row.namespace} ${row.workflow_count}`),
        namespaces.total,
      ];
    };
    const shop = ["shop/pay", "shop/refund"];
    expect(await list([{ namespace: "shop" }])).toEqual([shop, 2, ["shop 2"], 1]);
    expect(await list([{ namespace: "shop" }], { limit: 1 })).toEqual([
      ["shop/pay"],
      2,
      ["shop 2"],
      1,
    ]);
    expect(await list([{ name: "pay" }])).toEqual([
      ["bank/pay", "shop/pay"],
      2,
      ["bank 1", "shop 1"],
      2,
    ]);
    expect(await list([{ namespace: "default", name: "hello" }], { name: "h" })).toEqual([
      ["default/hello"],
      1,
      ["default 1"],
      1,
    ]);
    expect(await list([])).toEqual([[], 0, [], 0]);
  });

  test("a record written before some options were read has their defaults", async () => {
    const store = await opened(open);
    const old = { namespace: "default", name: "hello", description: null, metadata: {} };
    const before = { ...old, tasks: [{ name: "greet", description: null }] } as ExtractedWorkflow;
    const one = registration("hello", "c1");
    await store.catalog.register({
      ...one,
      workflows: [{ extracted: before, content_hash: "c1" }],
    });
    expect((await store.catalog.find("default", "hello"))?.record).toMatchObject({
      tasks: [{ auth_exempt: false, risk: "write", sensitive: false, secrets: [], configs: [] }],
      nested_workflows: [],
      durability: "durable",
      timeout_seconds: null,
      secrets: [],
      configs: [],
    });
  });

  test("EXE-70 a deleted version is found and listed no more, and the latest live one is current", async () => {
    const store = await opened(open);
    for (const content of ["c1", "c2", "c3"]) {
      await store.catalog.register(registration("hello", content));
    }
    expect(await store.catalog.delete("default", "hello", 3)).toEqual([3]);
    expect(await store.catalog.find("default", "hello", 3)).toBeUndefined();
    expect((await store.catalog.find("default", "hello"))?.record.version).toBe(2);
    const page = { limit: 50, offset: 0 };
    const versions = await store.catalog.listVersions("default", "hello", page);
    expect([versions.items.map((v) => v.version), versions.total]).toEqual([[2, 1], 2]);
    const workflows = await store.catalog.listWorkflows(page);
    expect([workflows.items.map((w) => w.version), workflows.total]).toEqual([[2], 1]);

    expect(await store.catalog.delete("default", "hello", 1)).toEqual([1]);
    expect((await store.catalog.find("default", "hello"))?.record.version).toBe(2);
  });

  test("EXE-70 what executions are pinned to can be read after it was deleted", async () => {
    const store = await opened(open);
    await store.catalog.register(registration("hello", "c1"));
    const before = await store.catalog.find("default", "hello", 1);
    await store.catalog.delete("default", "hello");
    expect(await store.catalog.find("default", "hello", 1)).toBeUndefined();
    expect(await store.catalog.find("default", "hello", 1, { deleted: true })).toEqual(before);
    expect(await store.catalog.find("default", "hello", 2, { deleted: true })).toBeUndefined();
    expect(await store.catalog.readModule("module-of-c1")).toBe("bundle of c1");
    expect(await store.catalog.readFiles("default", "hello", 1)).toHaveLength(1);
  });

  test("EXE-54 a version is found by its module, a live one before a deleted, the newest first", async () => {
    const store = await opened(open);
    for (const content of ["c1", "c2", "c1", "c3"]) {
      await store.catalog.register(registration("hello", content));
    }
    const version = async (name: string, module_hash: string, namespace = "default") =>
      (await store.catalog.findOfModule(namespace, name, module_hash))?.record.version;
    expect(await version("hello", "module-of-c1")).toBe(3);
    expect(await version("hello", "module-of-c2")).toBe(2);
    expect(await version("hello", "module-of-c4")).toBeUndefined();
    expect(await version("bye", "module-of-c1")).toBeUndefined();
    expect(await version("hello", "module-of-c1", "other")).toBeUndefined();

    await store.catalog.delete("default", "hello", 3);
    expect(await version("hello", "module-of-c1")).toBe(1);
    const before = await store.catalog.find("default", "hello", 2);
    await store.catalog.delete("default", "hello");
    expect(await version("hello", "module-of-c1")).toBe(3);
    expect(await store.catalog.findOfModule("default", "hello", "module-of-c2")).toEqual(before);
  });

  test("EXE-70 deleting what does not live, or lives no more, deletes nothing", async () => {
    const store = await opened(open);
    await store.catalog.register(registration("hello", "c1"));
    await store.catalog.register(registration("hello", "c2"));
    expect(await store.catalog.delete("default", "bye")).toEqual([]);
    expect(await store.catalog.delete("other", "hello")).toEqual([]);
    expect(await store.catalog.delete("default", "hello", 9)).toEqual([]);
    expect(await store.catalog.delete("default", "hello", 1)).toEqual([1]);
    expect(await store.catalog.delete("default", "hello", 1)).toEqual([]);
    expect(await store.catalog.delete("default", "hello")).toEqual([2]);
    expect(await store.catalog.delete("default", "hello")).toEqual([]);
  });

  test("EXE-67 EXE-70 content of a deleted version makes a new one, and no number is used twice", async () => {
    const store = await opened(open);
    const register = async (content_hash: string) => {
      const [item] = await store.catalog.register(registration("hello", content_hash));
      return [item?.version, item?.created];
    };
    await register("c1");
    await register("c2");
    await store.catalog.delete("default", "hello", 2);
    // Equal to the latest live one, though a later one was deleted.
    expect(await register("c1")).toEqual([1, false]);
    expect(await register("c2")).toEqual([3, true]);
    await store.catalog.delete("default", "hello");
    expect(await register("c2")).toEqual([4, true]);
    const found = await store.catalog.find("default", "hello", 3, { deleted: true });
    expect(found?.record.content_hash).toBe("c2");
  });

  test("EXE-71 a namespace exists while it has a live workflow", async () => {
    const store = await opened(open);
    await store.catalog.register(registration("hello", "c1"));
    await store.catalog.register(registration("order", "c2", "shop"));
    await store.catalog.register(registration("refund", "c3", "shop"));
    const namespaces = async () => {
      const { items, total } = await store.catalog.listNamespaces({ limit: 50, offset: 0 });
      return [items.map((item) => `${item.namespace} ${item.workflow_count}`), total];
    };
    await store.catalog.delete("shop", "order");
    expect(await namespaces()).toEqual([["default 1", "shop 1"], 2]);
    await store.catalog.delete("shop", "refund", 1);
    expect(await namespaces()).toEqual([["default 1"], 1]);
    await store.catalog.register(registration("order", "c2", "shop"));
    expect(await namespaces()).toEqual([["default 1", "shop 1"], 2]);
  });

  test("SVC-4 the latest version of each workflow that is chosen is found, once each", async () => {
    const store = await opened(open);
    await store.catalog.register(registration("order", "c1", "shop"));
    await store.catalog.register(registration("order", "c2", "shop"));
    await store.catalog.register(registration("pay", "c3", "shop"));
    await store.catalog.register(registration("pay", "c4", "bank"));
    await store.catalog.register(registration("gone", "c5", "shop"));
    await store.catalog.delete("shop", "gone");
    const chosen = async (namespaces: readonly string[], ...refs: readonly string[]) => {
      const workflows = refs.map((ref) => {
        const [namespace = "", name = ""] = ref.split("/");
        return { namespace, name };
      });
      const found = await store.catalog.chosen({ namespaces, workflows });
      return found.map(({ record: { namespace, name, version }, module_hash }) => {
        return `${namespace}/${name} ${version} ${module_hash}`;
      });
    };
    const order = "shop/order 2 module-of-c2";
    const [ofBank, ofShop] = ["bank/pay 1 module-of-c4", "shop/pay 1 module-of-c3"];
    expect(await chosen(["shop"])).toEqual([order, ofShop]);
    expect(await chosen(["shop", "none"], "shop/pay", "bank/pay")).toEqual([order, ofBank, ofShop]);
    expect(await chosen([], "shop/gone", "shop/none", "bank/pay")).toEqual([ofBank]);
    expect(await chosen([])).toEqual([]);
  });
}

function extracted(name: string, namespace = "default"): ExtractedWorkflow {
  return ExtractedWorkflow.parse({
    namespace,
    name,
    description: "says hello",
    tasks: [{ name: "greet", description: null, risk: "read", secrets: ["KEY"] }],
    nested_workflows: ["shop/order"],
    durability: "transient",
    timeout_seconds: 1.5,
    secrets: ["A"],
    metadata: { team: "a" },
  });
}

function registration(name: string, content_hash: string, namespace?: string): NewVersions {
  return {
    workflows: [{ extracted: extracted(name, namespace), content_hash }],
    module: { hash: `module-of-${content_hash}`, bundle: `bundle of ${content_hash}` },
    files: [{ path: "hello.ts", source: "1" }],
    source_hash: "s1",
    created_by: "ann",
  };
}
