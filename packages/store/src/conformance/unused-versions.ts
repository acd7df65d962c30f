import { ExtractedWorkflow } from "@engine/contract";
import { expect, test } from "vitest";
import type { NewVersions } from "../ports/catalog.ts";
import type { Store } from "../store.ts";
import { type Open, opened } from "./opened.ts";
import { appending, event, executionId, NOW, newExecution } from "./sample.ts";

const LATER = NOW + 60_000;

export function unusedVersionConformance(open: Open): void {
  test("EXE-98 I23 a deleted version goes with its code when no execution needs that", async () => {
    const store = await opened(open);
    for (const content of ["c1", "c2", "c3"]) await store.catalog.register(registration(content));
    const pinned = { version: 2, module_hash: "module-of-c2" };
    await store.executions.create(newExecution(1, pinned));
    expect(await store.catalog.deleteUnused(10)).toBe(0);
    await store.catalog.delete("default", "hello", 1);
    await store.catalog.delete("default", "hello", 2);
    expect(await store.catalog.deleteUnused(10)).toBe(1);
    const find = (version: number) =>
      store.catalog.find("default", "hello", version, { deleted: true });
    expect(await find(1)).toBeUndefined();
    expect(await store.catalog.readModule("module-of-c1")).toBeUndefined();
    expect(await store.catalog.readFiles("default", "hello", 1)).toEqual([]);
    expect(await find(2)).toBeDefined();
    expect(await store.catalog.readModule("module-of-c2")).toBe("bundle of c2");
    expect(await store.catalog.readFiles("default", "hello", 2)).toHaveLength(1);

    await finish(store, 1);
    await store.retention.deleteFinished(LATER, 100);
    expect(await store.catalog.deleteUnused(10)).toBe(1);
    expect(await find(2)).toBeUndefined();
    expect(await store.catalog.readModule("module-of-c3")).toBe("bundle of c3");
  });

  test("EXE-98 a version stays while executions of its file may call it", async () => {
    const store = await opened(open);
    const one = registration("c1");
    const [hello] = one.workflows;
    const helper = { extracted: extracted("helper"), content_hash: "h1" };
    await store.catalog.register({ ...one, workflows: [...(hello ? [hello] : []), helper] });
    await store.catalog.delete("default", "helper");
    await store.executions.create(newExecution(1, { module_hash: "module-of-c1" }));
    expect(await store.catalog.deleteUnused(10)).toBe(0);
    expect(await store.catalog.findOfModule("default", "helper", "module-of-c1")).toBeDefined();
  });

  test("EXE-98 code that another version has stays with that one", async () => {
    const store = await opened(open);
    for (const content of ["c1", "c2", "c1"]) await store.catalog.register(registration(content));
    await store.catalog.delete("default", "hello", 1);
    await store.catalog.delete("default", "hello", 2);
    expect(await store.catalog.deleteUnused(10)).toBe(2);
    expect(await store.catalog.readModule("module-of-c2")).toBeUndefined();
    expect(await store.catalog.readModule("module-of-c1")).toBe("bundle of c1");
    expect(await store.catalog.readFiles("default", "hello", 3)).toHaveLength(1);
  });

  test("EXE-70 the number of a version that is gone is not used again", async () => {
    const store = await opened(open);
    for (const content of ["c1", "c2"]) await store.catalog.register(registration(content));
    await store.catalog.delete("default", "hello");
    expect(await store.catalog.deleteUnused(1)).toBe(1);
    expect(await store.catalog.deleteUnused(10)).toBe(1);
    expect(await store.catalog.deleteUnused(10)).toBe(0);
    const [again] = await store.catalog.register(registration("c1"));
    expect(again).toMatchObject({ version: 3, created: true });
    expect(await store.catalog.readModule("module-of-c1")).toBe("bundle of c1");
  });

  test("a version that was deleted a moment ago may still be looked up by a start under way", async () => {
    const store = await opened(open);
    const [registered] = await store.catalog.register(registration("c1"));
    const registeredAt = Date.parse(registered?.created_at ?? "");
    await store.catalog.delete("default", "hello");
    expect(await store.catalog.deleteUnused(10, registeredAt)).toBe(0);
    expect(await store.catalog.deleteUnused(10, registeredAt + 60_000)).toBe(1);
  });
}

async function finish(store: Store, n: number, at: number = NOW): Promise<void> {
  await store.executions.change(executionId(n), (row) => {
    const ended = event("WORKFLOW_COMPLETED", row.execution_id, "done");
    return appending(row, [ended], { state: "COMPLETED", finished_at: at });
  });
}

function extracted(name: string): ExtractedWorkflow {
  return ExtractedWorkflow.parse({
    namespace: "default",
    name,
    description: null,
    tasks: [],
    metadata: {},
  });
}

function registration(content_hash: string): NewVersions {
  return {
    workflows: [{ extracted: extracted("hello"), content_hash }],
    module: { hash: `module-of-${content_hash}`, bundle: `bundle of ${content_hash}` },
    files: [{ path: "hello.ts", source: content_hash }],
    source_hash: "s1",
    created_by: "ann",
  };
}
