import type { AuditEntry } from "@engine/contract";
import { expect, test } from "vitest";
import { type Open, opened } from "./opened.ts";
import { executionId, NOW } from "./sample.ts";

const page = { limit: 10, offset: 0 };

function entry(n: number, fields: Partial<AuditEntry> = {}): AuditEntry {
  return {
    id: executionId(n),
    at: NOW + n,
    actor: { subject: "ann", issuer: "engine", type: "service_account" },
    credential: { kind: "api_key", id: "abc" },
    via_execution: null,
    action: "roles.create",
    target: "reader",
    decision: "allow",
    permissions: [],
    reason: null,
    client_address: "127.0.0.1",
    request_id: `r${n}`,
    changes: { permissions: { before: null, after: ["a:b"] } },
    ...fields,
  };
}

export function conformance(open: Open): void {
  test("AUD-1 AUD-3 rows are read newest first, whole, by who, what, on what and when", async () => {
    const store = await opened(open);
    await store.audit.add(entry(1));
    await store.audit.add(entry(2, { action: "roles.delete", actor: null, decision: "deny" }));
    await store.audit.add(entry(3, { target: "writer" }));
    const all = await store.audit.list(page);
    expect(all.total).toBe(3);
    expect(all.items.map(({ request_id }) => request_id)).toEqual(["r3", "r2", "r1"]);
    const { at, ...first } = entry(1);
    expect(all.items[2]).toEqual({ ...first, at: new Date(at).toISOString(), count: 1 });
    const found = async (filter: object) => {
      const { items } = await store.audit.list({ ...page, ...filter });
      return items.map(({ request_id }) => request_id);
    };
    expect(await found({ actor: "ann" })).toEqual(["r3", "r1"]);
    expect(await found({ action: "roles.delete" })).toEqual(["r2"]);
    expect(await found({ target: "reader" })).toEqual(["r2", "r1"]);
    expect(await found({ decision: "deny" })).toEqual(["r2"]);
    expect(await found({ since: NOW + 2, until: NOW + 3 })).toEqual(["r2"]);
    expect(await found({ limit: 1, offset: 1 })).toEqual(["r2"]);
  });

  test("AUD-3 equal refusals become one row that counts them", async () => {
    const store = await opened(open);
    for (const n of [1, 2, 3]) await store.audit.add(entry(n, { decision: "deny" }), "same");
    await store.audit.add(entry(4, { decision: "deny" }), "other", 5);
    await store.audit.add(entry(5, { decision: "deny" }), "other", 2);
    const { items } = await store.audit.list(page);
    expect(items.map(({ request_id, count }) => [request_id, count])).toEqual([
      ["r4", 7],
      ["r1", 3],
    ]);
  });

  test("AUD-3 rows leave oldest first, no more at a time than asked for", async () => {
    const store = await opened(open);
    for (const n of [1, 2, 3, 4]) await store.audit.add(entry(n));
    expect(await store.audit.deleteBefore(NOW + 4, 2)).toBe(2);
    expect(await store.audit.deleteBefore(NOW + 4, 2)).toBe(1);
    expect(await store.audit.deleteBefore(NOW + 4, 2)).toBe(0);
    const { items } = await store.audit.list(page);
    expect(items.map(({ request_id }) => request_id)).toEqual(["r4"]);
  });
}
