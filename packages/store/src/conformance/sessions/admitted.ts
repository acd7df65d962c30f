import { withGrants } from "@engine/contract";
import { expect, test } from "vitest";
import { type Open, opened } from "../opened.ts";
import {
  actions,
  admission,
  auditEntry,
  joinToken,
  LATER,
  LONG_AGO,
  register,
} from "./admission.ts";

const BOOTSTRAP = { kind: "bootstrap_token" } as const;
const own = (id: string, renew_window_ms = 0) =>
  ({ kind: "worker_credential", id, renew_window_ms }) as const;

/** AUTH-50: who may have a name, in one transaction with the session. */
export function admitted(open: Open): void {
  test("AUTH-50 a new name gets a principal, a session and the first credential of a line", async () => {
    const store = await opened(open);
    const shown = admission(BOOTSTRAP);
    const { opened: first } = await register(store, "w1", shown);
    expect(first).toMatchObject({
      session: { worker: "w1", credential_line: shown.credential.id },
      is_new_worker: true,
    });
    expect(await store.workerCredentials.find(shown.credential.id)).toMatchObject({
      ...shown.credential,
      line: shown.credential.id,
      generation: 1,
      principal_id: shown.principal_id,
      subject: "w1",
      enabled: true,
      banned: false,
      used_at: null,
      superseded_at: null,
      revoked_at: null,
    });
    expect(await actions(store)).toEqual(["workers.register"]);
    expect((await store.epochs.read()).identity).toBe(1);
  });

  test("AUTH-50 by the bootstrap token a known name is taken, and its earlier credential is revoked and audited", async () => {
    const store = await opened(open);
    const [first, second] = [admission(BOOTSTRAP), admission(BOOTSTRAP)];
    await register(store, "w1", first);
    const { opened: taken } = await register(store, "w1", second);
    expect(taken?.superseded).toMatchObject({ end_reason: "superseded" });
    expect(await store.workerCredentials.find(first.credential.id)).toMatchObject({
      revoked_at: expect.any(Number),
    });
    expect(await store.workerCredentials.find(second.credential.id)).toMatchObject({
      revoked_at: null,
      principal_id: first.principal_id,
    });
    expect(await actions(store)).toEqual([
      "worker.revoked",
      "workers.register",
      "workers.register",
    ]);
  });

  test("AUTH-50 a join token lets one new name in, once", async () => {
    const store = await opened(open);
    const token = await joinToken(store);
    expect(await register(store, "w1", admission(token))).toMatchObject({ refused: undefined });
    expect(await register(store, "w2", admission(token))).toEqual({ refused: "unauthenticated" });
    expect(await store.joinTokens.find(token.id)).toBeUndefined();
    expect(await store.workers.find("w2")).toBeUndefined();
  });

  test("WMD-3 AUTH-54 the services of a join token are granted with its use, beside those there are", async () => {
    const store = await opened(open);
    const held = async () => (await store.workers.find("w1"))?.attributes;
    const first = await joinToken(store, null, LATER, ["inference", "cache", "cache"]);
    expect(await register(store, "w2", admission(first))).toMatchObject({ refused: undefined });
    expect(await register(store, "w1", admission(first))).toEqual({ refused: "unauthenticated" });
    expect(await held()).toBeUndefined();
    expect((await store.workers.find("w2"))?.attributes).toEqual({
      ...{ metadata: {}, granted: ["cache", "inference"], revision: 1 },
    });
    await register(store, "w1", admission(await joinToken(store)));
    expect(await held()).toMatchObject({ granted: [], revision: 0 });
    await store.workers.changeAttributes("w1", withGrants(["search"]));
    const bound = await joinToken(store, "w1", LATER, ["inference", "search"]);
    expect(await register(store, "w1", admission(bound))).toMatchObject({ refused: undefined });
    expect(await held()).toMatchObject({ granted: ["inference", "search"], revision: 2 });
    // What is no join token grants nothing, and takes nothing away.
    await register(store, "w1", admission(BOOTSTRAP));
    expect(await held()).toMatchObject({ granted: ["inference", "search"], revision: 2 });
  });

  test("AUTH-50 of two workers that use one join token at once one gets in", async () => {
    const store = await opened(open);
    for (let n = 0; n < 10; n++) {
      const token = await joinToken(store);
      const both = await Promise.all([
        register(store, `a${n}`, admission(token)),
        register(store, `b${n}`, admission(token)),
      ]);
      expect(both.map(({ refused }) => refused ?? "in").sort()).toEqual(["in", "unauthenticated"]);
    }
  });

  test("AUTH-50 a join token for another name is refused and not consumed", async () => {
    const store = await opened(open);
    const token = await joinToken(store, "w1");
    expect(await register(store, "w2", admission(token))).toEqual({ refused: "unauthenticated" });
    expect(await register(store, "w1", admission(token))).toMatchObject({ refused: undefined });
    const again = await joinToken(store, "w1");
    expect(await register(store, "w1", admission(again))).toMatchObject({ refused: undefined });
  });

  test("AUTH-50 an unbound join token never gets a name that somebody has, and is dead after five of them", async () => {
    const store = await opened(open);
    await register(store, "w1", admission(BOOTSTRAP));
    const token = await joinToken(store);
    const tried: unknown[] = [];
    for (let n = 0; n < 6; n++) tried.push((await register(store, "w1", admission(token))).refused);
    expect(tried).toEqual([...Array(5).fill("unavailable"), "unauthenticated"]);
    expect(await register(store, "new", admission(token))).toEqual({ refused: "unauthenticated" });
    // Four are forgiven.
    const other = await joinToken(store);
    for (let n = 0; n < 4; n++) await register(store, "w1", admission(other));
    expect(await register(store, "new", admission(other))).toMatchObject({ refused: undefined });
  });

  test("AUTH-50 an expired, a revoked and an unknown join token let nobody in", async () => {
    const store = await opened(open);
    const expired = await joinToken(store, null, LONG_AGO);
    const revoked = await joinToken(store);
    await store.joinTokens.revoke(revoked.id);
    for (const shown of [expired, revoked, { kind: "join_token", id: "nothing" } as const]) {
      expect(await register(store, "w1", admission(shown))).toEqual({ refused: "unauthenticated" });
    }
    expect(await store.workers.find("w1")).toBeUndefined();
  });

  test("AUTH-50 a refusal of the session leaves the join token as it was", async () => {
    const store = await opened(open);
    await store.replicas.note("replica-1");
    for (let n = 0; n < 4; n++) {
      const { opened: begun } = await register(store, "w1", admission(BOOTSTRAP));
      await store.sessions.connect(begun?.session.session_id ?? "", "replica-1");
    }
    const token = await joinToken(store, "w1");
    await expect(register(store, "w1", admission(token))).rejects.toMatchObject({
      code: "worker_name_in_use",
    });
    expect(await store.joinTokens.find(token.id)).toMatchObject({ subject: "w1" });
  });

  test("AUTH-50, AUTH-51 its own credential registers a worker again, in the same line", async () => {
    const store = await opened(open);
    const first = admission(BOOTSTRAP);
    await register(store, "w1", first, "process");
    const { id } = first.credential;
    const again = admission(own(id));
    const { opened: continued } = await register(store, "w1", again, "process");
    expect(continued).toMatchObject({ continued: true, session: { credential_line: id } });
    expect(await store.workerCredentials.find(again.credential.id)).toMatchObject({
      line: id,
      generation: 2,
      principal_id: first.principal_id,
    });
    // The first one still counts: its successor was not used.
    expect(await store.workerCredentials.find(id)).toMatchObject({
      revoked_at: null,
      superseded_at: null,
    });
    expect(await register(store, "w2", admission(own(id)))).toEqual({ refused: "unauthenticated" });
    expect(await register(store, "w1", admission(own("no")))).toEqual({
      refused: "unauthenticated",
    });
  });

  test("AUTH-51 an expired credential registers its worker within the window, a revoked one never", async () => {
    const store = await opened(open);
    const expired = admission(BOOTSTRAP);
    const { id } = expired.credential;
    await register(store, "w1", {
      ...expired,
      credential: { ...expired.credential, expires_at: LONG_AGO },
    });
    expect(await register(store, "w1", admission(own(id)))).toEqual({ refused: "unauthenticated" });
    const within = Number.MAX_SAFE_INTEGER - LONG_AGO;
    expect(await register(store, "w1", admission(own(id, within)))).toMatchObject({
      refused: undefined,
    });
    await store.workerCredentials.revoke(id, auditEntry("revoked"));
    expect(await register(store, "w1", admission(own(id, within)))).toEqual({
      refused: "unauthenticated",
    });
  });

  test("AUTH-63 while the worker of the server's own process lives, nobody registers its name", async () => {
    const store = await opened(open);
    const inProcess = admission({ kind: "process" });
    const { opened: dev } = await register(store, "dev", inProcess);
    expect(dev?.session).toMatchObject({ credential_line: "process" });
    expect(await store.workerCredentials.find(inProcess.credential.id)).toBeUndefined();
    expect(await register(store, "dev", admission(BOOTSTRAP))).toEqual({ refused: "unavailable" });
    const token = await joinToken(store, "dev");
    expect(await register(store, "dev", admission(token))).toEqual({ refused: "unavailable" });
    expect(await store.joinTokens.find(token.id)).toBeDefined();
    // The process itself comes again.
    expect(await register(store, "dev", admission({ kind: "process" }))).toMatchObject({
      refused: undefined,
    });
    const [live] = await store.sessions.listLive();
    await store.sessions.end(live?.session_id ?? "", "disconnected");
    expect(await register(store, "dev", admission(BOOTSTRAP))).toMatchObject({
      refused: undefined,
    });
  });

  test("AUTH-50 of two registrations of one new name at once there is one principal", async () => {
    const store = await opened(open);
    const both = [admission(BOOTSTRAP), admission(BOOTSTRAP)];
    await Promise.all(both.map((shown) => register(store, "w1", shown)));
    const found = await Promise.all(
      both.map(({ credential }) => store.workerCredentials.find(credential.id)),
    );
    expect(new Set(found.map((one) => one?.principal_id)).size).toBe(1);
    expect(found.filter((one) => one?.revoked_at === null)).toHaveLength(1);
  });
}
