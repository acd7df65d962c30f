import { expect, test } from "vitest";
import { type Open, opened } from "./opened.ts";
import { actions, auditEntry, LATER, LONG_AGO } from "./sessions/admission.ts";

const page = { limit: 10, offset: 0 };

function token(id: string, fields: { subject?: string; expires_at?: number } = {}) {
  const of = { subject: null, services: ["inference"], created_by: "ann", expires_at: LATER };
  return { id, secret_hash: `hash of ${id}`, ...of, ...fields };
}

export function conformance(open: Open): void {
  test("AUTH-54 join tokens that can be used are listed, newest first", async () => {
    const store = await opened(open);
    const made = [];
    for (const id of ["a", "b", "c"]) made.push(await store.joinTokens.create(token(id)));
    await store.joinTokens.create(token("expired", { expires_at: LONG_AGO }));
    expect(made[0]).toEqual({ ...token("a"), created_at: expect.any(Number) });
    expect(await store.joinTokens.list(page)).toEqual({ items: made.toReversed(), total: 3 });
    expect(await store.joinTokens.list({ limit: 1, offset: 1 })).toEqual({
      items: [made[1]],
      total: 3,
    });
    expect(await store.joinTokens.find("b")).toEqual(made[1]);
    expect(await store.joinTokens.find("expired")).toBeUndefined();
    expect(await store.joinTokens.find("nothing")).toBeUndefined();
  });

  test("AUTH-54 one is revoked once, those of a name together, each with its row of the audit log", async () => {
    const store = await opened(open);
    await store.joinTokens.create(token("a"), auditEntry("create"));
    for (const id of ["b", "c"]) await store.joinTokens.create(token(id, { subject: "w1" }));
    expect(await store.joinTokens.revoke("a", auditEntry("revoke"))).toBe(true);
    expect(await store.joinTokens.revoke("a", auditEntry("again"))).toBe(false);
    expect(await store.joinTokens.revoke("nothing", auditEntry("again"))).toBe(false);
    expect(await store.joinTokens.revokeFor("w1", auditEntry("revoke"))).toBe(2);
    expect(await store.joinTokens.revokeFor("w1", auditEntry("again"))).toBe(0);
    expect(await store.joinTokens.list(page)).toEqual({ items: [], total: 0 });
    expect(await actions(store)).toEqual(["create", "revoke", "revoke"]);
  });

  test("AUTH-54 rows go some time after their end", async () => {
    const store = await opened(open);
    await store.joinTokens.create(token("a", { expires_at: LONG_AGO }));
    await store.joinTokens.create(token("b"));
    expect(await store.joinTokens.deleteExpired(LONG_AGO, 10)).toBe(0);
    expect(await store.joinTokens.deleteExpired(LONG_AGO + 1, 10)).toBe(1);
    expect(await store.joinTokens.deleteExpired(LONG_AGO + 1, 10)).toBe(0);
    expect(await store.joinTokens.find("b")).toBeDefined();
  });

  test("AUTH-53 of servers that make a bootstrap token at once one is kept, until it is rotated", async () => {
    const store = await opened(open);
    expect(await store.joinTokens.bootstrap()).toBeUndefined();
    const kept = await Promise.all(
      ["a", "b", "c"].map((hash) => store.joinTokens.keepBootstrap(hash)),
    );
    expect(new Set(kept).size).toBe(1);
    expect(await store.joinTokens.bootstrap()).toBe(kept[0]);
    await store.joinTokens.rotateBootstrap("new", auditEntry("rotate"));
    expect(await store.joinTokens.bootstrap()).toBe("new");
    expect(await store.joinTokens.keepBootstrap("late")).toBe("new");
    expect(await actions(store)).toEqual(["rotate"]);
  });
}
