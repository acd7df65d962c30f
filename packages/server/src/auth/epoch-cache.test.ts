import { type Route, routes } from "@engine/contract";
import type { AuthorizationRequest, Caller } from "@engine/http";
import { expect, test, vi } from "vitest";
import { settled } from "../testing/manual-time.ts";
import { silent, TestEngine } from "../testing/start-engine.ts";
import { TwoServers } from "../testing/two-servers.ts";
import { createAccess } from "./access.ts";
import { EpochCache } from "./epoch-cache.ts";
import { newSecretToken } from "./secret-token.ts";
import { changeByNobody } from "./testing/change-by-nobody.ts";

const CONFIG = { security: { auth: { enabled: true } } };
const LIST: Route = routes.executions.list;

/** Authorization of a server of tests, with the key of an admin. */
class Guard {
  readonly token: string;
  readonly #t: TestEngine;
  readonly #access: NonNullable<ReturnType<typeof createAccess>>;

  private constructor(t: TestEngine, token: string) {
    this.#t = t;
    this.token = token;
    const { time, config } = t;
    const { clock, monotonic, setTimer } = time;
    const parts = { clock, monotonic, setTimer };
    const access = createAccess({
      engine: t.engine,
      ports: { store: t.breakable, config, ids: () => "id", log: silent, ...parts },
      fetch,
    });
    if (!access) throw new Error("authorization is off");
    this.#access = access;
  }

  static async of(t: TestEngine): Promise<Guard> {
    const { id, token, secret_hash } = newSecretToken("engine_sk", { token: () => "x" });
    const logins = { api_keys: true, oidc_issuer: null };
    await t.store.identities.makeFirstAdmin({ id: "p1", key: { id, secret_hash }, logins });
    // What the server read of the epochs as it started is from before.
    await t.time.advance(1_000);
    return new Guard(t, token);
  }

  /** The same store as another server sees it. */
  on(t: TestEngine): Guard {
    return new Guard(t, this.token);
  }

  ask(): Caller | Promise<Caller> {
    const raw_headers = ["authorization", `Bearer ${this.token}`];
    const request: AuthorizationRequest = {
      ...{ request_id: "r", params: {}, headers: {}, address: "127.0.0.1", raw_headers },
    };
    return this.#access.authentication.authorize(LIST, request);
  }

  /** Somebody disables the principal, past this server. */
  async disable(t: TestEngine = this.#t): Promise<void> {
    await t.store.principals.change("p1", () => ({ enabled: false }), changeByNobody());
  }
}

const refused = (reason: string) => ({ code: "unauthenticated", details: { reason } });

test("AUTH-56 a caller who is known is answered at once, without a question to the store", async () => {
  await using t = await TestEngine.start(CONFIG);
  const guard = await Guard.of(t);
  const first = await guard.ask();
  expect(first).toMatchObject({ principal: "p1", identity: { subject: "admin" } });
  const before = t.store.statementCount();
  const again = guard.ask();
  expect(again).toBe(first);
  expect(first.again?.()).toBe(first);
  expect(t.store.statementCount()).toBe(before);
});

test("AUTH-56 a known identity is read anew after its time, and always where nothing is kept", async () => {
  for (const [cache_ttl, isKept] of [
    [30, true],
    [0, false],
  ] as const) {
    await using t = await TestEngine.start({ security: { auth: { enabled: true, cache_ttl } } });
    const guard = await Guard.of(t);
    const first = await guard.ask();
    expect((await guard.ask()) === first).toBe(isKept);
    await t.time.advance(29_999);
    expect((await guard.ask()) === first).toBe(isKept);
    await t.time.advance(1);
    expect(await guard.ask()).not.toBe(first);
  }
});

test("AUTH-57 what was changed past this server is seen once the row is read, a second later at most", async () => {
  await using t = await TwoServers.start(CONFIG);
  const a = await Guard.of(t.a);
  const b = a.on(t.b);
  const caller = await b.ask();
  t.hears = false;
  await a.disable();
  t.a.engine.epochs.raised("identity");
  await expect(async () => a.ask()).rejects.toMatchObject(refused("disabled"));
  await t.time.advance(999);
  expect(await b.ask()).toBe(caller);
  await t.time.advance(1);
  await expect(async () => b.ask()).rejects.toMatchObject(refused("disabled"));
  await expect(async () => caller.again?.()).rejects.toMatchObject(refused("disabled"));
});

test("AUTH-57 what one server changed another one knows as soon as it hears of it", async () => {
  await using t = await TwoServers.start(CONFIG);
  const a = await Guard.of(t.a);
  const b = a.on(t.b);
  await b.ask();
  const changed: string[] = [];
  const stop = t.b.engine.epochs.onChange("identity", () => void changed.push("identity"));
  await a.disable();
  t.a.engine.epochs.raised("identity");
  await settled();
  expect(changed).toEqual(["identity"]);
  await expect(async () => b.ask()).rejects.toMatchObject(refused("disabled"));
  stop();
});

test("AUTH-57 a change that nobody told of is found by the row, and whoever listens is told", async () => {
  await using t = await TestEngine.start(CONFIG);
  const guard = await Guard.of(t);
  await guard.ask();
  let changes = 0;
  t.engine.epochs.onChange("identity", () => void changes++);
  await guard.disable();
  await t.time.advance(1_000);
  expect(await t.engine.epochs.current()).toBe(true);
  expect(changes).toBe(1);
});

test("AUTH-57 many requests wait for one reading of the row", async () => {
  await using t = await TestEngine.start(CONFIG);
  const guard = await Guard.of(t);
  await guard.ask();
  await t.time.advance(1_000);
  const read = vi.spyOn(t.store.epochs, "read");
  await Promise.all(Array.from({ length: 100 }, async () => guard.ask()));
  expect(read).toHaveBeenCalledTimes(1);
});

test("AUTH-57 whoever keeps asking does not wait for the row: it is read again before it is too old", async () => {
  await using t = await TestEngine.start(CONFIG);
  const guard = await Guard.of(t);
  await guard.ask();
  const read = vi.spyOn(t.store.epochs, "read");
  await t.time.advance(400);
  expect(t.engine.epochs.isCurrent).toBe(true);
  expect(read).not.toHaveBeenCalled();
  await t.time.advance(200);
  expect([t.engine.epochs.isCurrent, t.engine.epochs.isCurrent]).toEqual([true, true]);
  expect(read).toHaveBeenCalledTimes(1);
  await settled();
  await t.time.advance(450);
  expect(t.engine.epochs.isCurrent).toBe(true);
});

test("AUTH-57 a server that cannot read the row keeps nothing, and lets nobody in by what it kept", async () => {
  await using t = await TestEngine.start(CONFIG);
  const guard = await Guard.of(t);
  const first = await guard.ask();
  t.failing.add("epochs.read");
  await t.time.advance(1_000);
  const [second, third] = [await guard.ask(), await guard.ask()];
  expect(new Set([first, second, third]).size).toBe(3);
  t.failing.add("identities.findByKey");
  await expect(async () => guard.ask()).rejects.toMatchObject({ code: "unavailable" });
  t.failing.clear();
  await guard.disable();
  await expect(async () => guard.ask()).rejects.toMatchObject(refused("disabled"));
});

test("AUTH-57 what began to be read before a change is not kept after it, and not given to later ones", async () => {
  await using t = await TestEngine.start(CONFIG);
  const { epochs } = t.engine;
  const cache = new EpochCache<string>({ epochs, of: "identity", ttlMs: 30_000, ports: t.time });
  const old = Promise.withResolvers<string>();
  const first = cache.get("key", () => old.promise);
  const shared = cache.get("key", async () => "not asked");
  await settled();
  epochs.raised("identity");
  const fresh = await cache.get("key", async () => "new");
  old.resolve("old");
  expect([await first, await shared, fresh]).toEqual(["old", "old", "new"]);
  expect(cache.known("key")).toBe("new");
});

test("AUTH-57 an idle engine makes no statement for the epochs", async () => {
  await using t = await TestEngine.start(CONFIG);
  const guard = await Guard.of(t);
  await guard.ask();
  // What was used is noted once.
  await t.time.advance(2_000);
  const before = t.store.statementCount();
  await t.time.advance(10_000);
  expect(t.store.statementCount()).toBe(before);
});

test("AUTH-58 who held everything and does not any more has to ask anew", async () => {
  await using t = await TestEngine.start(CONFIG);
  const guard = await Guard.of(t);
  const caller = await guard.ask();
  expect(caller.rights).toBeUndefined();
  await t.store.principals.grantRole("p1", "viewer", changeByNobody());
  await t.store.principals.revokeRole("p1", "admin", changeByNobody());
  t.engine.epochs.raised("identity");
  await expect(async () => caller.again?.()).rejects.toMatchObject({ code: "permission_denied" });
  expect((await guard.ask()).rights?.holds("execution:*:read")).toBe(true);
});
