import { EngineError, ExtractedWorkflow, type ScheduleRow } from "@engine/contract";
import { expect, test } from "vitest";
import type { NewVersions } from "../ports/catalog.ts";
import type { Store } from "../store.ts";
import { type Open, opened } from "./opened.ts";
import { NOW } from "./sample.ts";

export function conformance(open: Open): void {
  test("EXE-72 a schedule is read as it was written, and a name is taken once", async () => {
    const store = await opened(open);
    const row = schedule("nightly", {
      description: 'ü – "quoted"',
      input: { list: [1, null, "x"], "": {} },
      routing_input: { gpu: "a100" },
      held: { instant: NOW, retry_at: null },
      spec: { type: "interval", every_seconds: 1.5, start_at: "2026-01-01T00:00:00.000Z" },
    });
    expect(await store.schedules.create(row)).toEqual(row);
    expect(await store.schedules.find("nightly")).toEqual(row);
    expect(await store.schedules.find("Nightly")).toBeUndefined();
    await expect(
      store.schedules.create(schedule("nightly", { id: "other" })),
    ).rejects.toMatchObject({
      code: "schedule_exists",
    });
    expect(await store.schedules.find("nightly")).toEqual(row);
  });

  test("RIN-3 routing inputs that are not sealed are found, whatever else is in the record", async () => {
    const store = await opened(open);
    const sealed = { key_id: "k1", wrapped: "w", body: "b" };
    const routing_input = { gpu: "a100" };
    for (const name of ["c", "a"]) await store.schedules.create(schedule(name, { routing_input }));
    await store.schedules.create(schedule("sealed", { routing_sealed: sealed }));
    await store.schedules.create(schedule("none", { input: { routing_input } }));
    await store.schedules.create(
      schedule("misleading", { routing_input, input: { routing_input: {} } }),
    );
    expect(await store.schedules.listUnsealed(10)).toEqual(["a", "c", "misleading"]);
    expect(await store.schedules.listUnsealed(1)).toEqual(["a"]);
    await store.schedules.change("a", () => ({ routing_input: {}, routing_sealed: sealed }));
    expect(await store.schedules.listUnsealed(10)).toEqual(["c", "misleading"]);
    expect(await store.schedules.find("a")).toMatchObject({ routing_sealed: sealed });
  });

  test("EXE-72 of creations that race for a name one succeeds", async () => {
    const store = await opened(open);
    const created = await Promise.allSettled(
      ["a", "b", "c"].map((id) => store.schedules.create(schedule("nightly", { id }))),
    );
    expect(created.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  });

  test("EXE-75 changes that race are made one after the other, each seeing the one before", async () => {
    const store = await opened(open);
    await store.schedules.create(schedule("nightly"));
    const changes = Array.from({ length: 8 }, () =>
      store.schedules.change("nightly", ({ run_count }) => ({ run_count: run_count + 1 })),
    );
    await Promise.all(changes);
    expect(await store.schedules.find("nightly")).toMatchObject({ run_count: 8, revision: 9 });
  });

  test("EXE-75 of changes that look for the same instant one finds it", async () => {
    const store = await opened(open);
    await store.schedules.create(schedule("nightly", { next_run_at: NOW }));
    let moved = 0;
    const move = ({ next_run_at }: ScheduleRow) => {
      if (next_run_at !== NOW) return undefined;
      moved++;
      return { next_run_at: NOW + 1000 };
    };
    await Promise.all(Array.from({ length: 4 }, () => store.schedules.change("nightly", move)));
    expect(moved).toBe(1);
    expect(await store.schedules.find("nightly")).toMatchObject({ revision: 2 });
  });

  test("a decision that wants nothing or throws writes nothing", async () => {
    const store = await opened(open);
    const row = await store.schedules.create(schedule("nightly"));
    expect(await store.schedules.change("nightly", () => undefined)).toEqual(row);
    const refusal = new EngineError("conflict", "no");
    const refused = store.schedules.change("nightly", () => {
      throw refusal;
    });
    await expect(refused).rejects.toBe(refusal);
    expect(await store.schedules.find("nightly")).toEqual(row);
    expect(await store.schedules.change("weekly", () => ({ run_count: 1 }))).toBeUndefined();
  });

  test("a deleted schedule is gone, and its name is free", async () => {
    const store = await opened(open);
    await store.schedules.create(schedule("nightly", { id: "one" }));
    expect(await store.schedules.delete("nightly")).toBe(true);
    expect(await store.schedules.delete("nightly")).toBe(false);
    expect(await store.schedules.find("nightly")).toBeUndefined();
    await store.schedules.create(schedule("nightly", { id: "two" }));
    expect((await store.schedules.find("nightly"))?.id).toBe("two");
  });

  test("EXE-72 schedules are listed by name, with filters and pages", async () => {
    const store = await opened(open);
    await store.schedules.create(schedule("b", { workflow: "report", status: "paused" }));
    await store.schedules.create(schedule("A", { namespace: "shop" }));
    await store.schedules.create(schedule("c", { source: "code" }));
    await store.schedules.create(schedule("a"));
    const list = async (filter: object) => {
      const page = await store.schedules.list({ limit: 50, offset: 0, ...filter });
      return [page.items.map(({ name }) => name), page.total];
    };
    expect(await list({})).toEqual([["A", "a", "b", "c"], 4]);
    expect(await list({ limit: 2, offset: 1 })).toEqual([["a", "b"], 4]);
    expect(await list({ namespace: "shop" })).toEqual([["A"], 1]);
    expect(await list({ workflow: "hello", source: "code" })).toEqual([["c"], 1]);
    expect(await list({ status: "paused" })).toEqual([["b"], 1]);
    expect(await list({ status: "paused", source: "code" })).toEqual([[], 0]);
    // AUTH-33: by name and by workflow at once.
    expect(await list({ visible: [{ namespace: "shop" }] })).toEqual([["A"], 1]);
    expect(await list({ visible: [{ name: "hello" }], limit: 1 })).toEqual([["A"], 3]);
    expect(await list({ names: ["a", "b", "z"] })).toEqual([["a", "b"], 2]);
    expect(await list({ names: ["a", "b"], visible: [{ name: "report" }] })).toEqual([["b"], 1]);
    expect(await list({ visible: [{ name: "hello" }], source: "code" })).toEqual([["c"], 1]);
    expect(await list({ visible: [] })).toEqual([[], 0]);
    expect(await list({ names: [] })).toEqual([[], 0]);
  });

  test("EXE-75 due schedules come in the order in which they are due, page by page", async () => {
    const store = await opened(open);
    await store.schedules.create(schedule("d", { next_run_at: NOW + 5 }));
    await store.schedules.create(schedule("c", { next_run_at: NOW }));
    await store.schedules.create(schedule("b", { next_run_at: NOW }));
    await store.schedules.create(schedule("paused", { next_run_at: null, status: "paused" }));
    const held = { instant: NOW - 9, retry_at: NOW + 2 };
    await store.schedules.create(schedule("held", { next_run_at: NOW + 50, held }));
    const names = async (page: Parameters<Store["schedules"]["listDue"]>[0]) =>
      (await store.schedules.listDue(page)).map(({ name }) => name);
    expect(await names({ until: NOW + 5, limit: 9 })).toEqual(["b", "c", "held", "d"]);
    expect(await names({ until: NOW + 4, limit: 2 })).toEqual(["b", "c"]);
    const after = { name: "c", due_at: NOW };
    expect(await names({ until: NOW + 4, limit: 2, after })).toEqual(["held"]);
    expect(await names({ until: NOW - 1, limit: 9 })).toEqual([]);

    expect(await store.schedules.nextAt(NOW - 1)).toBe(NOW);
    expect(await store.schedules.nextAt(NOW)).toBe(NOW + 2);
    expect(await store.schedules.nextAt(NOW + 50)).toBeNull();
    await store.schedules.change("held", () => ({ status: "disabled", held: null }));
    expect(await store.schedules.nextAt(NOW)).toBe(NOW + 5);
  });

  test("EXE-66 EXE-76 declared schedules are saved with the versions, or neither is", async () => {
    const store = await opened(open);
    const put = (row: ScheduleRow | undefined) => row ?? schedule("default.hello");
    await store.catalog.register(registration("c1", [{ name: "default.hello", put }]));
    expect(await store.schedules.find("default.hello")).toEqual(schedule("default.hello"));

    const refusal = new EngineError("schedule_exists", "no");
    const refuse = () => {
      throw refusal;
    };
    const refused = store.catalog.register(registration("c2", [{ name: "x", put: refuse }]));
    await expect(refused).rejects.toBe(refusal);
    expect((await store.catalog.find("default", "hello"))?.record.version).toBe(1);

    // A dry run decides, and saves nothing.
    const remove = [{ name: "default.hello", put: () => null }];
    await store.catalog.register(registration("c2", remove), { dryRun: true });
    expect(await store.schedules.find("default.hello")).toBeDefined();
    await store.catalog.register(registration("c2", remove));
    expect(await store.schedules.find("default.hello")).toBeUndefined();
  });

  test("EXE-70 deleting versions decides about the schedules of their workflow only", async () => {
    const store = await opened(open);
    for (const content of ["c1", "c2"]) await store.catalog.register(registration(content, []));
    await store.schedules.create(schedule("mine"));
    await store.schedules.create(schedule("theirs", { workflow: "other" }));
    const seen: unknown[] = [];
    const put: Parameters<Store["catalog"]["delete"]>[3] = (row, { current, deleted }) => {
      seen.push([row.name, current?.version, deleted]);
      return current ? { ...row, status: "disabled", next_run_at: null } : null;
    };
    expect(await store.catalog.delete("default", "hello", 2, put)).toEqual([2]);
    expect(seen).toEqual([["mine", 1, [2]]]);
    expect(await store.schedules.find("mine")).toMatchObject({ status: "disabled" });
    expect(await store.catalog.delete("default", "hello", 2, put)).toEqual([]);
    await store.catalog.delete("default", "hello", undefined, put);
    expect(seen.at(-1)).toEqual(["mine", undefined, [1]]);
    expect(await store.schedules.find("mine")).toBeUndefined();
    expect(await store.schedules.find("theirs")).toMatchObject({ status: "active" });
  });
}

export function schedule(name: string, fields: Partial<ScheduleRow> = {}): ScheduleRow {
  return {
    id: `id-of-${name}`,
    name,
    namespace: "default",
    workflow: "hello",
    version: null,
    description: null,
    spec: { type: "cron", expression: "0 * * * *", timezone: "UTC" },
    overlap: "skip",
    catch_up: "one",
    input: null,
    routing_input: {},
    routing_sealed: null,
    run_as: null,
    status: "active",
    source: "api",
    next_run_at: NOW + 1_000_000,
    held: null,
    catch_up_to: null,
    last_run_at: null,
    last_execution_id: null,
    run_count: 0,
    failure_count: 0,
    consecutive_failures: 0,
    skip_count: 0,
    last_skipped_at: null,
    last_error: null,
    created_at: NOW,
    updated_at: NOW,
    revision: 1,
    ...fields,
  };
}

function registration(content: string, schedules: NewVersions["schedules"]): NewVersions {
  const extracted = ExtractedWorkflow.parse({
    namespace: "default",
    name: "hello",
    description: null,
    tasks: [],
    metadata: {},
  });
  return {
    workflows: [{ extracted, content_hash: content }],
    module: { hash: `module-of-${content}`, bundle: "" },
    files: [],
    source_hash: "",
    created_by: null,
    schedules,
  };
}
