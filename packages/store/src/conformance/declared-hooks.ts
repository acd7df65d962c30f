import { EngineError, ExtractedWorkflow } from "@engine/contract";
import { expect, test } from "vitest";
import type { HookEdit, PutHooks } from "../hooks/declared-hooks.ts";
import type { HookRow, NewHookRow } from "../hooks/hook-row.ts";
import type { NewVersions } from "../ports/catalog.ts";
import type { Store } from "../store.ts";
import { hookedStore, newHook, outboxOf } from "./hooked.ts";
import { auditOf, identityWrite } from "./identity.ts";
import { type Open, opened } from "./opened.ts";
import { newExecution } from "./sample.ts";

export const OWNER = { owner_type: "workflow", owner_ref: "default/hello" } as const;

/** Hooks of a workflow, written with its versions (HOOK-49). */
export function declaredHookConformance(open: Open): void {
  test("HOOK-49 declared hooks are saved with the versions, or neither is", async () => {
    const store = await opened(open);
    await register(store, "c1", () => [create("page")]);
    expect(await store.hooks.find("page")).toMatchObject({ ...OWNER, enabled: true, revision: 1 });

    const refusal = new EngineError("invalid_input", "no");
    const refuse = () => {
      throw refusal;
    };
    await expect(register(store, "c2", refuse)).rejects.toBe(refusal);
    expect((await store.catalog.find("default", "hello"))?.record.version).toBe(1);
  });

  test("HOOK-49 an owner is asked by the hooks that it has, and by no others", async () => {
    const store = await opened(open);
    await store.hooks.create(newHook("mine"));
    await store.hooks.create(
      newHook("agent's", { owner_type: "agent", owner_ref: "default/hello" }),
    );
    await store.hooks.create(newHook("other's", { ...OWNER, owner_ref: "default/other" }));
    await register(store, "c1", () => [create("b"), create("a")]);
    const seen: string[][] = [];
    await register(store, "c2", (own) => {
      seen.push(own.map(({ name }) => name));
      return [];
    });
    expect(seen).toEqual([["a", "b"]]);
    const { items } = await store.hooks.list({ limit: 9, offset: 0 });
    expect(items.map(({ name }) => name)).toEqual(["a", "agent's", "b", "mine", "other's"]);
  });

  test("HOOK-49 hooks are found by who declares them, of many owners at once", async () => {
    const store = await opened(open);
    const of = (owner_ref: string) => ({ ...OWNER, owner_ref });
    for (const [name, owner] of Object.entries({ c: "a/b", a: "a/b", b: "a/c", d: "a/d" })) {
      await store.hooks.create(newHook(name, of(owner)));
    }
    await store.hooks.create(newHook("e", { owner_type: "agent", owner_ref: "a/b" }));
    const own = await store.hooks.ownedBy("workflow", ["a/b", "a/c", "a/none"]);
    expect(own.map(({ name }) => name)).toEqual(["a", "b", "c"]);
    expect(await store.hooks.ownedBy("workflow", [])).toEqual([]);
  });

  test("HOOK-49 a hook that is changed keeps its id, whether it is enabled, and its deliveries", async () => {
    const store = await hookedStore(open);
    await register(store, "c1", () => [create("page")]);
    await store.executions.create(newExecution(1));
    await store.hooks.change("page", { enabled: false }, { revision: 1, by: null });
    const before = await found(store, "page");
    await register(store, "c2", ([row]) => [change(row, { workflow: "ops/ask", max_attempts: 9 })]);
    expect(await found(store, "page")).toEqual({
      ...{ ...before, workflow: "ops/ask", max_attempts: 9 },
      ...{ revision: 3, updated_by: "ann", updated_at: expect.any(Number) },
    });
    expect(await outboxOf(store, before)).toHaveLength(1);
  });

  test("HOOK-4 HOOK-49 a hook that is declared no more goes with its deliveries", async () => {
    const store = await hookedStore(open);
    await register(store, "c1", () => [create("page"), create("ask")]);
    await store.executions.create(newExecution(1));
    const [page, ask] = [await found(store, "page"), await found(store, "ask")];
    await register(store, "c2", (own) => own.filter(({ name }) => name === "page").map(remove));
    expect(await store.hooks.find("page")).toBeUndefined();
    expect(await outboxOf(store, page)).toEqual([]);
    expect(await outboxOf(store, ask)).toHaveLength(1);
  });

  test("HOOK-49 a name that somebody else has refuses all, and says whose it is", async () => {
    const store = await opened(open);
    const theirs = await store.hooks.create(newHook("page"));
    const taken = register(store, "c1", () => [create("ask"), create("page")]);
    await expect(taken).rejects.toMatchObject({
      ...{ code: "hook_exists", details: { owner_type: "user", owner_ref: null } },
    });
    expect(await store.hooks.find("page")).toEqual(theirs);
    expect(await store.hooks.find("ask")).toBeUndefined();
    expect(await store.catalog.find("default", "hello")).toBeUndefined();
  });

  test("HOOK-49 of two workflows of one file one may take over the name that the other gives up", async () => {
    const store = await opened(open);
    const both = (put: Readonly<Record<string, PutHooks>>) =>
      Object.entries(put).map(([name, each]) => ({ owner_ref: `default/${name}`, put: each }));
    const other = { ...newHook("page"), ...OWNER, id: "2", owner_ref: "default/other" };
    await store.catalog.register(registration("c1", both({ hello: () => [create("page")] })));
    const twice = both({ other: () => [{ kind: "create", hook: other }], hello: () => [] });
    await expect(store.catalog.register(registration("c2", twice))).rejects.toMatchObject({
      ...{ code: "hook_exists", details: OWNER },
    });
    const handed = both({
      other: () => [{ kind: "create", hook: other }],
      hello: (own) => own.map(remove),
    });
    await store.catalog.register(registration("c2", handed));
    expect(await store.hooks.find("page")).toMatchObject({ id: "2", owner_ref: "default/other" });

    const fresh = both({
      a: () => [create("new")],
      b: () => [{ kind: "create", hook: { ...other, id: "3", name: "new" } }],
    });
    await expect(store.catalog.register(registration("c3", fresh))).rejects.toMatchObject({
      ...{ code: "hook_exists", details: OWNER },
    });
  });

  test("HOOK-49 EXE-66 a dry run refuses what the registration would, and saves nothing", async () => {
    const store = await opened(open);
    await store.hooks.create(newHook("mine"));
    const dry = { dryRun: true };
    await register(store, "c1", () => [create("page")], dry);
    expect(await store.hooks.find("page")).toBeUndefined();
    await expect(register(store, "c1", () => [create("mine")], dry)).rejects.toMatchObject({
      code: "hook_exists",
    });
    await register(store, "c1", () => [create("page")]);
    await register(store, "c2", (own) => own.map(remove), dry);
    expect(await store.hooks.find("page")).toBeDefined();
  });

  test("HOOK-12 HOOK-49 a registration raises the epoch of hooks once, and only where it changes one", async () => {
    const store = await opened(open);
    const epoch = async () => (await store.epochs.read()).hooks;
    await register(store, "c1", () => []);
    expect(await epoch()).toBe(0);
    await register(store, "c2", () => [create("page"), create("ask")]);
    expect(await epoch()).toBe(1);
    await register(store, "c3", (own) => own.map((row) => change(row, { max_attempts: 9 })));
    expect(await epoch()).toBe(2);
    await store.catalog.delete("default", "hello", 3);
    expect(await epoch()).toBe(2);
    await store.catalog.delete("default", "hello");
    expect(await epoch()).toBe(3);
  });

  test("HOOK-11 HOOK-49 the first event behind a registration is matched with what that declares", async () => {
    const store = await hookedStore(open);
    await store.executions.create(newExecution(1));
    await register(store, "c1", () => [create("page")]);
    await store.executions.create(newExecution(2));
    const row = await found(store, "page");
    expect(await outboxOf(store, row)).toHaveLength(1);
    const never = ["execution:nothing:*"];
    await register(store, "c2", (own) => own.map((hook) => change(hook, { selectors: never })));
    await store.executions.create(newExecution(3));
    expect(await outboxOf(store, row)).toHaveLength(1);
  });

  test("HOOK-51 with its last version, and no sooner, a workflow's hooks are gone with their deliveries", async () => {
    const store = await hookedStore(open);
    await register(store, "c1", () => [create("page")]);
    await register(store, "c2", () => []);
    await store.hooks.create(newHook("mine"));
    await store.executions.create(newExecution(1));
    const [page, mine] = [await found(store, "page"), await found(store, "mine")];
    await store.catalog.delete("default", "hello", 2);
    expect(await found(store, "page")).toEqual(page);
    const { entry } = identityWrite("catalog.delete", { target: "default/hello" });
    await store.catalog.delete("default", "hello", undefined, undefined, entry);
    expect(await store.hooks.find("page")).toBeUndefined();
    expect(await outboxOf(store, page)).toEqual([]);
    expect(await outboxOf(store, mine)).toHaveLength(1);
    expect(await auditOf(store)).toMatchObject([
      { action: "catalog.delete", changes: { hooks: { before: ["page"], after: null } } },
    ]);
  });

  test("AUD-3 HOOK-49 what a registration does to a hook is in the audit log with what it changed", async () => {
    const store = await opened(open);
    const audit = (action: string) => identityWrite(action, { target: "page" }).entry;
    await register(store, "c1", () => [{ ...create("page"), audit: audit("made") }]);
    await register(store, "c2", ([row]) => [
      { ...change(row, { principal: "robot" }), audit: audit("changed") },
    ]);
    await register(store, "c3", (own) =>
      own.map((row) => ({ ...remove(row), audit: audit("no") })),
    );
    expect(await auditOf(store)).toMatchObject([
      { action: "made", changes: { principal: { before: null, after: "ops-bot" } } },
      { action: "changed", changes: { principal: { before: "ops-bot", after: "robot" } } },
      { action: "no", changes: { principal: { before: "robot", after: null } } },
    ]);
  });
}

function create(name: string, fields: Partial<NewHookRow> = {}): HookEdit {
  return { kind: "create", hook: { ...newHook(name), ...OWNER, ...fields } };
}

export function change(
  row: HookRow | undefined,
  fields: Extract<HookEdit, { kind: "change" }>["change"],
): HookEdit {
  if (!row) throw new Error("there is no hook");
  return { kind: "change", row, change: fields, by: "ann" };
}

export function remove(row: HookRow): HookEdit {
  return { kind: "delete", row };
}

async function found(store: Store, name: string): Promise<HookRow> {
  const row = await store.hooks.find(name);
  if (!row) throw new Error(`there is no hook ${name}`);
  return row;
}

export function register(
  store: Store,
  content: string,
  put: PutHooks,
  options: Parameters<Store["catalog"]["register"]>[1] = {},
): Promise<unknown> {
  const hooks = [{ owner_ref: OWNER.owner_ref, put }];
  return store.catalog.register(registration(content, hooks), options);
}

function registration(content: string, hooks: NewVersions["hooks"]): NewVersions {
  const extracted = ExtractedWorkflow.parse({
    ...{ namespace: "default", name: "hello", description: null, tasks: [], metadata: {} },
  });
  const module = { hash: `module-of-${content}`, bundle: "" };
  return {
    ...{ workflows: [{ extracted, content_hash: content }], module, files: [] },
    ...{ source_hash: "", created_by: null, hooks },
  };
}
