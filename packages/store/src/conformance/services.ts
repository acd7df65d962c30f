import { expect, test } from "vitest";
import type { NewServiceRow, ServiceChoice } from "../ports/services.ts";
import { auditOf, identityWrite } from "./identity.ts";
import { type Open, opened } from "./opened.ts";

const page = { limit: 100, offset: 0 };

function newService(name: string, fields: Partial<NewServiceRow> = {}): NewServiceRow {
  const choice = { namespaces: ["shop"], workflows: ["default/a"], exclusions: [] };
  return { id: `id of ${name}`, name, description: null, mcp_enabled: false, ...choice, ...fields };
}

const adding = (namespace: string) => (service: ServiceChoice) => ({
  ...service,
  namespaces: [...service.namespaces, namespace],
});

export function conformance(open: Open): void {
  test("SVC-1 a service is read as it was written", async () => {
    const store = await opened(open);
    expect(await store.services.find("billing")).toBeUndefined();
    const fresh = newService("billing", { description: 'ü "quoted"', mcp_enabled: true });
    const made = await store.services.create(fresh);
    expect(made).toEqual({ ...fresh, created_at: made.updated_at, updated_at: made.created_at });
    expect(await store.services.find("billing")).toEqual(made);
    expect(await store.services.list(page)).toEqual({ items: [made], total: 1 });
  });

  test("SVC-18 of those that make a service of one name at once, one does", async () => {
    const store = await opened(open);
    const ids = ["1", "2", "3"];
    const made = await Promise.allSettled(
      ids.map((id) => store.services.create(newService("billing", { id }))),
    );
    expect(made.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(made.find(({ status }) => status === "rejected")).toMatchObject({
      reason: { code: "service_exists" },
    });
    expect((await store.services.list(page)).total).toBe(1);
  });

  test("SVC-11 SVC-19 services are listed by name, page by page, or only some", async () => {
    const store = await opened(open);
    for (const name of ["b", "a_1", "a-1", "0"]) await store.services.create(newService(name));
    const names = async (filter: object) => {
      const { items, total } = await store.services.list({ ...page, ...filter });
      return [items.map(({ name }) => name), total];
    };
    expect(await names({})).toEqual([["0", "a-1", "a_1", "b"], 4]);
    expect(await names({ limit: 1, offset: 1 })).toEqual([["a-1"], 4]);
    expect(await names({ names: ["b", "other"] })).toEqual([["b"], 1]);
  });

  test("SVC-22 of two changes at once both take effect, and its instant moves with a value only", async () => {
    const store = await opened(open);
    const made = await store.services.create(newService("billing"));
    await Promise.all(["x", "y"].map((name) => store.services.change("billing", adding(name))));
    const changed = await store.services.find("billing");
    expect(changed?.namespaces.toSorted()).toEqual(["shop", "x", "y"]);
    expect(changed?.created_at).toBe(made.created_at);
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(await store.services.change("billing", (service) => ({ ...service }))).toEqual(changed);
    const later = await store.services.change("billing", (service) => ({
      ...service,
      mcp_enabled: true,
    }));
    expect(later?.updated_at).toBeGreaterThan(changed?.updated_at ?? 0);
    expect(await store.services.change("other", adding("x"))).toBeUndefined();
  });

  test("SVC-22 a change that is refused leaves the service as it was", async () => {
    const store = await opened(open);
    const made = await store.services.create(newService("billing"));
    const refused = store.services.change("billing", () => {
      throw new Error("too many");
    });
    await expect(refused).rejects.toThrow("too many");
    expect(await store.services.find("billing")).toEqual(made);
  });

  test("SVC-24 a deleted service is gone, and its name is free", async () => {
    const store = await opened(open);
    await store.services.create(newService("billing"));
    expect(await store.services.delete("billing")).toBe(true);
    expect(await store.services.delete("billing")).toBe(false);
    expect(await store.services.find("billing")).toBeUndefined();
    await store.services.create(newService("billing", { id: "another" }));
  });

  test("SVC-5 AUTH-57 each change raises the epoch of services, what changes nothing does not", async () => {
    const store = await opened(open);
    const epoch = async () => (await store.epochs.read()).services;
    await store.services.create(newService("billing"));
    expect(await epoch()).toBe(1);
    await store.services.change("billing", adding("x"));
    expect(await epoch()).toBe(2);
    await store.services.change("billing", (service) => service);
    await store.services.delete("other");
    expect(await epoch()).toBe(2);
    await store.services.delete("billing");
    expect(await epoch()).toBe(3);
  });

  test("AUD-3 every change is in the audit log with what it changed", async () => {
    const store = await opened(open);
    const entry = (action: string) => identityWrite(action, { target: "billing" }).entry;
    await store.services.create(newService("billing", { workflows: [] }), entry("create"));
    await store.services.change("billing", adding("x"), entry("update"));
    await store.services.change("billing", (service) => service, entry("nothing"));
    await store.services.delete("billing", entry("delete"));
    await store.services.delete("billing", entry("too late"));
    const about = { target: "billing" };
    expect(await auditOf(store)).toMatchObject([
      { ...about, action: "create", changes: { namespaces: { before: null, after: ["shop"] } } },
      {
        ...about,
        action: "update",
        changes: { namespaces: { before: ["shop"], after: ["shop", "x"] } },
      },
      { ...about, action: "delete", changes: { namespaces: { after: null } } },
    ]);
  });
}
