import { expect, test } from "vitest";
import type { Store } from "../store.ts";
import type { KeyHolder, Rewrapped, StoredDataKey } from "../stored-keys.ts";
import { auditOf, identityWrite } from "./identity.ts";
import { type Open, opened } from "./opened.ts";
import { executionId, newExecution } from "./sample.ts";
import { schedule } from "./schedules.ts";
import { putSecret } from "./secrets.ts";

const HOLDERS: readonly KeyHolder[] = [
  ...(["secrets", "masks", "execution_keys", "schedules", "routing"] as const),
];

/** Something of each kind under one key, something else under another one. */
async function filled(store: Store): Promise<void> {
  await putSecret(store, "a");
  await putSecret(store, "a");
  await putSecret(store, "b", { key_id: "k2" });
  for (const [id, key_id] of Object.entries({ e1: "k1", e2: "k1", e3: "k2" })) {
    await store.executionKeys.add(id, { key_id, wrapped: `key of ${id}` });
  }
  const sealed = { key_id: "k1", wrapped: "key of nightly", body: "body" };
  await store.schedules.create(schedule("nightly", { routing_sealed: sealed }));
  await store.schedules.create(schedule("open", { routing_input: { gpu: "a100" } }));
  const hidden = { sealed: "k1:terms+/=" };
  const requirements = { requests: { cpu: 1 }, hidden } as const;
  await store.executions.create(newExecution(1, { routing_input: "k1:one+/=", requirements }));
  await store.executions.create(newExecution(2, { routing_input: "k2:two" }));
  await store.executions.create(newExecution(3, { routing_input: '{"gpu":"k1:a100"}' }));
  await store.executions.create(newExecution(4, { requirements: { requests: { cpu: 1 } } }));
}

function stale(store: Store, of: KeyHolder): Promise<readonly StoredDataKey[]> {
  return store.encryption.stale(of, "k2", { limit: 10 });
}

function anew(key: StoredDataKey): Rewrapped {
  return { ...key, key_id: "k2", wrapped: newly(key), before: key.wrapped };
}

function newly({ of, wrapped }: StoredDataKey): string {
  return of === "routing" ? wrapped.replace("k1:", "k2:") : `new ${wrapped}`;
}

export function conformance(open: Open): void {
  test("SEC-1 what a key is checked by is kept once", async () => {
    const store = await opened(open);
    expect(await store.encryption.checks()).toEqual([]);
    const check = (key_id: string, body: string) => ({ key_id, wrapped: "w", body });
    await store.encryption.addChecks([check("k2", "b"), check("k1", "a")]);
    await store.encryption.addChecks([check("k1", "other"), check("k3", "c")]);
    await store.encryption.addChecks([]);
    expect(await store.encryption.checks()).toEqual([
      check("k1", "a"),
      check("k2", "b"),
      check("k3", "c"),
    ]);
  });

  test("SEC-3 rows are counted by the key that they are under", async () => {
    const store = await opened(open);
    expect(await store.encryption.uses()).toEqual([]);
    await filled(store);
    expect(await store.encryption.uses()).toEqual([
      { key_id: "k1", rows: 7 },
      { key_id: "k2", rows: 3 },
    ]);
  });

  test("SEC-3 data keys are found wherever they are, page by page, and kept wrapped anew", async () => {
    const store = await opened(open);
    await filled(store);
    expect(await stale(store, "secrets")).toEqual([
      { of: "secrets", name: "a", version: 2, key_id: "k1", wrapped: "key of a 2" },
    ]);
    expect(await stale(store, "masks")).toMatchObject([{ of: "masks", name: "a", version: 1 }]);
    const executions = await stale(store, "execution_keys");
    expect(executions).toEqual(
      ["e1", "e2"].map((name) => ({
        ...{ of: "execution_keys", name, version: "", key_id: "k1", wrapped: `key of ${name}` },
      })),
    );
    const after = executions[0];
    const rest = await store.encryption.stale("execution_keys", "k2", { after, limit: 1 });
    expect(rest).toEqual(executions.slice(1));
    const schedules = await stale(store, "schedules");
    expect(schedules).toEqual([
      {
        ...{ of: "schedules", name: "nightly", version: schedule("nightly").id },
        ...{ key_id: "k1", wrapped: "key of nightly" },
      },
    ]);
    const next = { after: schedules[0], limit: 1 };
    expect(await store.encryption.stale("schedules", "k2", next)).toEqual([]);

    const texts = await stale(store, "routing");
    const of = { of: "routing", name: executionId(1), key_id: "k1" } as const;
    expect(texts).toEqual([
      { ...of, version: "input", wrapped: "k1:one+/=" },
      { ...of, version: "terms", wrapped: "k1:terms+/=" },
    ]);
    const behind = { after: texts[0], limit: 1 };
    expect(await store.encryption.stale("routing", "k2", behind)).toEqual(texts.slice(1));

    for (const of of HOLDERS) {
      const keys = await stale(store, of);
      expect(await store.encryption.rewrap(of, keys.map(anew))).toBe(keys.length);
      expect(await stale(store, of)).toEqual([]);
      expect(await store.encryption.rewrap(of, [])).toBe(0);
    }
    expect(await store.encryption.uses()).toEqual([{ key_id: "k2", rows: 10 }]);
    const sealed = { key_id: "k2", wrapped: "new key of a 2", body: "body of a 2" };
    expect(await store.secrets.find("a")).toMatchObject({ ...sealed, version: 2 });
    expect(await store.executionKeys.find("e1")).toEqual({
      ...{ key_id: "k2", wrapped: "new key of e1" },
    });
    // A row that the store has at hand may still be as it was, and opens as long as the old key does.
    const page = await store.executions.list({ order: "created_asc", limit: 1, offset: 0 });
    expect(page.items[0]).toMatchObject({
      ...{ routing_input: "k2:one+/=" },
      requirements: { requests: { cpu: 1 }, hidden: { sealed: "k2:terms+/=" } },
    });
    expect(await store.schedules.find("nightly")).toMatchObject({
      routing_sealed: { key_id: "k2", wrapped: "new key of nightly", body: "body" },
      revision: 1,
    });
  });

  test("SEC-3 what was changed meanwhile is not written over", async () => {
    const store = await opened(open);
    await filled(store);
    const found = await Promise.all(HOLDERS.map((of) => stale(store, of)));
    await putSecret(store, "a", { key_id: "k3" });
    const sealed = { key_id: "k3", wrapped: "other", body: "other" };
    await store.schedules.change("nightly", () => ({ routing_sealed: sealed }));
    const counts = [];
    for (const [n, of] of HOLDERS.entries()) {
      const keys = found[n] ?? [];
      counts.push(await store.encryption.rewrap(of, keys.map(anew)));
      // Nor is what this has done itself, once more.
      expect(await store.encryption.rewrap(of, keys.map(anew))).toBe(0);
    }
    expect(counts).toEqual([0, 1, 2, 0, 2]);
    expect(await store.secrets.find("a")).toMatchObject({ version: 3, wrapped: "key of a 3" });
    expect(await store.schedules.find("nightly")).toMatchObject({ routing_sealed: sealed });
    // What the secret was is among what stays masked by now, under its old key.
    expect(await stale(store, "masks")).toMatchObject([{ version: 2, wrapped: "key of a 2" }]);
  });

  test("SEC-3 AUD-2 a rotation is known until it ends, or another one begins", async () => {
    const store = await opened(open);
    expect(await store.encryption.rotation()).toBeUndefined();
    const { entry } = identityWrite("encryption.rotate");
    await store.encryption.beginRotation("k2", entry);
    expect(await store.encryption.rotation()).toBe("k2");
    await store.encryption.beginRotation("k3");
    await store.encryption.endRotation("k2");
    expect(await store.encryption.rotation()).toBe("k3");
    await store.encryption.endRotation("k3");
    expect(await store.encryption.rotation()).toBeUndefined();
    expect(await auditOf(store)).toMatchObject([{ action: "encryption.rotate" }]);
  });
}
