import { expect, test } from "vitest";
import type { Store } from "../store.ts";
import { type Open, opened } from "./opened.ts";
import {
  actions,
  admission,
  auditEntry,
  fresh,
  LATER,
  LONG_AGO,
  register,
} from "./sessions/admission.ts";

const RENEWING = { renew_window_ms: 0 };

export function conformance(open: Open): void {
  test("AUTH-51 a renewal makes a successor; the predecessor is superseded by its first use", async () => {
    const store = await opened(open);
    const first = await registered(store);
    const second = await renewed(store, first);
    const before = await store.workerCredentials.find(first);
    expect(before).toMatchObject({ superseded_at: null, used_at: null });
    expect(await store.workerCredentials.find(second)).toMatchObject({
      line: first,
      generation: 2,
    });
    await store.workerCredentials.use(second);
    const used = await store.workerCredentials.find(second);
    expect(used).toMatchObject({ used_at: expect.any(Number), superseded_at: null });
    expect(await store.workerCredentials.find(first)).toMatchObject({
      superseded_at: used?.used_at,
      revoked_at: null,
    });
  });

  test("AUTH-51 only the first use counts", async () => {
    const store = await opened(open);
    const first = await registered(store);
    await store.workerCredentials.use(first);
    const second = await renewed(store, first);
    const { identity } = await store.epochs.read();
    await store.workerCredentials.use(first);
    expect(await store.workerCredentials.find(second)).toMatchObject({ superseded_at: null });
    expect((await store.epochs.read()).identity).toBe(identity);
    await store.workerCredentials.use(second);
    expect((await store.epochs.read()).identity).toBe(identity + 1);
    await store.workerCredentials.use("nobody's");
  });

  test("AUTH-51 of two successors of one credential the one that is used supersedes the other, too", async () => {
    const store = await opened(open);
    const first = await registered(store);
    const [lost, kept] = [await renewed(store, first), await renewed(store, first)];
    await store.workerCredentials.use(kept);
    for (const id of [first, lost]) {
      expect(await store.workerCredentials.find(id)).toMatchObject({
        superseded_at: expect.any(Number),
      });
    }
    const both = await Promise.all([renewed(store, kept), renewed(store, kept)]);
    await Promise.all(both.map((id) => store.workerCredentials.use(id)));
    expect(await store.workerCredentials.find(kept)).toMatchObject({
      superseded_at: expect.any(Number),
    });
  });

  test("AUTH-51, AUTH-58 what revokes one of a line revokes all, and ends the session of that line", async () => {
    const store = await opened(open);
    const first = await registered(store, "w1");
    const other = await registered(store, "w2");
    const second = await renewed(store, first);
    const before = await store.epochs.read();
    expect(await store.workerCredentials.revoke(first, auditEntry("worker.reuse"))).toBe(true);
    for (const id of [first, second]) {
      expect(await store.workerCredentials.find(id)).toMatchObject({
        revoked_at: expect.any(Number),
      });
    }
    expect(await store.sessions.listLive()).toMatchObject([{ worker: "w2" }]);
    const { session } = (await store.workers.find("w1")) ?? {};
    expect(session).toMatchObject({ end_reason: "revoked", epoch: 1 });
    expect((await store.epochs.read()).identity).toBe(before.identity + 1);
    expect(await actions(store)).toContain("worker.reuse");
    expect(await store.workerCredentials.revoke(second, auditEntry("again"))).toBe(false);
    expect(await store.workerCredentials.revoke("nobody's", auditEntry("again"))).toBe(false);
    expect(await actions(store)).not.toContain("again");
    const late = { id: fresh("c"), secret_hash: "h", expires_at: LATER };
    const how = { ...RENEWING, audit: auditEntry("renewed") };
    expect(await store.workerCredentials.renew(second, late, how)).toBe(false);
    expect(await store.workerCredentials.find(late.id)).toBeUndefined();
    expect(await store.workerCredentials.find(other)).toMatchObject({ revoked_at: null });
  });

  test("AUTH-58 a line ends with its newest credential, and at once when it is revoked", async () => {
    const store = await opened(open);
    const first = await registered(store, "w1", LONG_AGO);
    expect(await store.workerCredentials.lineEnd(first)).toBe(LONG_AGO);
    const renew_window_ms = LATER - LONG_AGO;
    const next = { id: fresh("c"), secret_hash: "h", expires_at: LATER };
    const how = { renew_window_ms, audit: auditEntry("renewed") };
    expect(await store.workerCredentials.renew(first, next, how)).toBe(true);
    expect(await store.workerCredentials.lineEnd(first)).toBe(LATER);
    await store.workerCredentials.revoke(first, auditEntry("revoked"));
    expect(await store.workerCredentials.lineEnd(first)).toBeNull();
    expect(await store.workerCredentials.lineEnd("nobody's")).toBeNull();
  });

  test("AUTH-51 a renewal while the line is revoked escapes nothing", async () => {
    const store = await opened(open);
    for (let n = 0; n < 10; n++) {
      const first = await registered(store, `w${n}`);
      const next = { id: fresh("c"), secret_hash: "h", expires_at: LATER };
      const how = { ...RENEWING, audit: auditEntry("renewed") };
      await Promise.all([
        store.workerCredentials.renew(first, next, how),
        store.workerCredentials.revoke(first, auditEntry("revoked")),
      ]);
      expect((await store.workerCredentials.find(next.id))?.revoked_at).not.toBeNull();
      expect(await store.workerCredentials.lineEnd(first)).toBeNull();
    }
  });

  test("AUTH-51 credentials that ended long ago are forgotten", async () => {
    const store = await opened(open);
    const old = await registered(store, "w1", LONG_AGO);
    const live = await registered(store, "w2");
    expect(await store.workerCredentials.deleteExpired(LONG_AGO, 10)).toBe(0);
    expect(await store.workerCredentials.deleteExpired(LONG_AGO + 1, 10)).toBe(1);
    expect(await store.workerCredentials.find(old)).toBeUndefined();
    expect(await store.workerCredentials.find(live)).toBeDefined();
  });
}

/** The id of the credential that a worker got by the bootstrap token. */
async function registered(store: Store, worker = "w1", expires_at = LATER): Promise<string> {
  const { credential, ...shown } = admission({ kind: "bootstrap_token" });
  await register(store, worker, { ...shown, credential: { ...credential, expires_at } });
  return credential.id;
}

async function renewed(store: Store, id: string): Promise<string> {
  const next = { id: fresh("credential"), secret_hash: fresh("hash"), expires_at: LATER };
  const how = { ...RENEWING, audit: auditEntry("workers.credential") };
  expect(await store.workerCredentials.renew(id, next, how)).toBe(true);
  return next.id;
}
