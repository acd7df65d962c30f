import { expect, test } from "vitest";
import type { NewSecret, SecretInfo } from "../ports/secrets.ts";
import type { Store } from "../store.ts";
import { auditOf, identityWrite } from "./identity.ts";
import { type Open, opened } from "./opened.ts";

const page = { limit: 100, offset: 0 };

/** A value of a secret, whose parts say which one it is. */
export function newSecret(
  name: string,
  version: number,
  fields: Partial<NewSecret> = {},
): NewSecret {
  return {
    ...{ name, version, description: null, unmasked: false, masked_values: 1, key_id: "k1" },
    ...{ wrapped: `key of ${name} ${version}`, body: `body of ${name} ${version}` },
    updated_by: "ann",
    ...fields,
  };
}

/** Writes the next value of a secret. */
export async function putSecret(
  store: Store,
  name: string,
  fields: Partial<NewSecret> = {},
): Promise<SecretInfo> {
  const slot = await store.secrets.slot(name);
  const put = await store.secrets.put(newSecret(name, slot.next_version, fields), slot);
  return put ?? expect.unreachable("nobody else writes it");
}

async function masked(store: Store): Promise<readonly string[]> {
  return (await store.masks.list()).map(({ body }) => body);
}

export function conformance(open: Open): void {
  test("SEC-4 a secret is read as it was written, and listed without its value", async () => {
    const store = await opened(open);
    expect(await store.secrets.find("token")).toBeUndefined();
    const slot = await store.secrets.slot("token");
    expect(slot).toEqual({ current_version: null, next_version: 1, description: null });
    const secret = newSecret("token", 1, { description: "for ü", unmasked: true });
    const info = await store.secrets.put(secret, slot);
    const { wrapped, body, ...said } = secret;
    const at = info?.created_at;
    expect(info).toEqual({ ...said, created_at: at, updated_at: at });
    expect(await store.secrets.find("token")).toEqual({ ...info, wrapped, body });
    expect(await store.secrets.find("Token")).toBeUndefined();
    expect(await store.secrets.list(page)).toEqual({ items: [info], total: 1 });
  });

  test("SEC-4 secrets are listed by name, page by page, or only some", async () => {
    const store = await opened(open);
    for (const name of ["b", "B", "_a", "a.b@c-d", "9"]) await putSecret(store, name);
    const names = async (filter: object) => {
      const { items, total } = await store.secrets.list({ ...page, ...filter });
      return [items.map(({ name }) => name), total];
    };
    expect(await names({})).toEqual([["9", "B", "_a", "a.b@c-d", "b"], 5]);
    expect(await names({ limit: 2, offset: 2 })).toEqual([["_a", "a.b@c-d"], 5]);
    expect(await names({ names: ["b", "9", "other"] })).toEqual([["9", "b"], 2]);
    expect(await names({ names: [] })).toEqual([[], 0]);
    const some = await store.secrets.findAll(["b", "B", "nobody"]);
    expect(some.map(({ name, body }) => [name, body])).toEqual([
      ["B", "body of B 1"],
      ["b", "body of b 1"],
    ]);
  });

  test("RED-2 what a secret was stays masked when it is replaced and when it is deleted", async () => {
    const store = await opened(open);
    await putSecret(store, "token");
    const second = await putSecret(store, "token");
    expect(second.version).toBe(2);
    expect(await masked(store)).toEqual(["body of token 1", "body of token 2"]);
    expect(await store.secrets.delete("token")).toBe(true);
    expect(await store.secrets.delete("token")).toBe(false);
    expect(await store.secrets.find("token")).toBeUndefined();
    expect(await masked(store)).toEqual(["body of token 1", "body of token 2"]);
    // A version that is masked is not given again.
    expect((await putSecret(store, "token")).version).toBe(3);
    expect(await masked(store)).toEqual([1, 2, 3].map((n) => `body of token ${n}`));
  });

  test("SEC-5 what is unmasked is masked neither while it is there nor later", async () => {
    const store = await opened(open);
    await putSecret(store, "mode", { unmasked: true });
    expect(await masked(store)).toEqual([]);
    await putSecret(store, "mode");
    expect(await masked(store)).toEqual(["body of mode 2"]);
    await putSecret(store, "mode", { unmasked: true });
    await store.secrets.delete("mode");
    expect(await masked(store)).toEqual(["body of mode 2"]);
  });

  test("SEC-4 of those that write a secret at once one succeeds, and nothing is lost", async () => {
    const store = await opened(open);
    const race = async () => {
      const slot = await store.secrets.slot("token");
      const writes = ["a", "b", "c"].map((body) =>
        store.secrets.put(newSecret("token", slot.next_version, { body }), slot),
      );
      return (await Promise.all(writes)).filter((info) => info !== undefined);
    };
    expect(await race()).toHaveLength(1);
    expect(await race()).toHaveLength(1);
    expect(await store.secrets.find("token")).toMatchObject({ version: 2 });
    expect(await store.masks.list()).toHaveLength(2);
    const old = { current_version: 1 };
    expect(await store.secrets.put(newSecret("token", 3), old)).toBeUndefined();
    await store.secrets.delete("token");
    const gone = { current_version: 2 };
    expect(await store.secrets.put(newSecret("token", 3), gone)).toBeUndefined();
    expect(await store.secrets.find("token")).toBeUndefined();
  });

  test("AUD-2 AUTH-57 every change is in the audit log without a value, and raises the masks", async () => {
    const store = await opened(open);
    const entry = (action: string) => identityWrite(action, { target: "token" }).entry;
    const slot = await store.secrets.slot("token");
    await store.secrets.put(newSecret("token", 1), slot, entry("secrets.put"));
    await store.secrets.put(newSecret("token", 1), slot, entry("too late"));
    await store.secrets.put(
      newSecret("token", 2, { description: "new", key_id: "k2" }),
      { current_version: 1 },
      entry("secrets.put"),
    );
    await store.secrets.delete("token", entry("secrets.delete"));
    await store.secrets.delete("token", entry("too late"));
    const audit = await auditOf(store);
    const first = {
      version: { before: null, after: 1 },
      unmasked: { before: null, after: false },
      masked_values: { before: null, after: 1 },
      key_id: { before: null, after: "k1" },
    };
    expect(audit.map(({ action, changes }) => [action, changes])).toEqual([
      ["secrets.put", first],
      [
        "secrets.put",
        {
          version: { before: 1, after: 2 },
          description: { before: null, after: "new" },
          key_id: { before: "k1", after: "k2" },
        },
      ],
      ["secrets.delete", expect.objectContaining({ version: { before: 2, after: null } })],
    ]);
    expect(JSON.stringify(audit)).not.toMatch(/body of|key of/);
    expect((await store.epochs.read()).masks).toBe(3);
  });
}
