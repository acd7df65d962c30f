import { EngineError, type Identity } from "@engine/contract";
import type { Refused } from "@engine/http";
import { expect, test } from "vitest";
import { settled } from "../testing/manual-time.ts";
import { silent, TestEngine } from "../testing/start-engine.ts";
import { RefusalLog } from "./refusal-log.ts";
import { guardedServer } from "./testing/guarded-server.ts";
import { unauthenticated } from "./unauthenticated.ts";

const page = { limit: 500, offset: 0 };

class Log {
  readonly t: TestEngine;
  readonly #log: RefusalLog;
  #ids = 0;

  constructor(t: TestEngine) {
    this.t = t;
    const { clock, setTimer } = t.time;
    const ids = () => `row-${String(++this.#ids).padStart(5, "0")}`;
    this.#log = new RefusalLog({ store: t.breakable, clock, setTimer, ids, log: silent });
  }

  refuse(error: EngineError, refused: Partial<Refused> = {}): void {
    const by = { action: "hooks.get", caller: null, address: "10.0.0.1", request_id: "r1" };
    this.#log.note(error, { ...by, ...refused });
  }

  async rows() {
    await settled();
    return (await this.t.store.audit.list(page)).items;
  }

  close(): Promise<void> {
    return this.#log.close();
  }
}

function lacking(...missing_permissions: readonly string[]): EngineError {
  return new EngineError("permission_denied", "no", { details: { missing_permissions } });
}

function bot(subject = "bot"): Refused["caller"] {
  const identity: Identity = {
    ...{ id: "p1", subject, issuer: "engine", type: "service_account", roles: [], grants: [] },
    ...{ narrowed_to: null, via_execution: null },
    credential: { kind: "api_key", id: "key1", expires_at: null },
  };
  return { principal: "p1", identity };
}

test("AUD-1 AUD-2 a refusal says who was refused what, and why; of an unknown caller only where from", async () => {
  await using t = await TestEngine.start();
  const log = new Log(t);
  log.refuse(unauthenticated("expired"));
  log.refuse(lacking("hook:x:read"), { caller: bot() });
  log.refuse(new EngineError("origin_denied", "no"), { address: "10.0.0.2" });
  const rows = await log.rows();
  const common = { action: "hooks.get", decision: "deny", client_address: "10.0.0.1", count: 1 };
  expect(rows.toSorted((a, b) => a.id.localeCompare(b.id))).toMatchObject([
    { ...common, actor: null, credential: null, permissions: [], reason: "expired" },
    {
      ...common,
      actor: { subject: "bot", issuer: "engine", type: "service_account" },
      credential: { kind: "api_key", id: "key1" },
      ...{ permissions: ["hook:x:read"], reason: null, request_id: "r1" },
    },
    { ...common, actor: null, reason: "origin_denied", client_address: "10.0.0.2" },
  ]);
  await log.close();
});

test("AUD-3 equal refusals of a minute are one row; the first is written at once, the others together", async () => {
  await using t = await TestEngine.start();
  const log = new Log(t);
  for (let n = 0; n < 100; n++) log.refuse(unauthenticated("missing"));
  const counts = async () => (await log.rows()).map(({ count }) => count);
  const first = await counts();
  expect(first).toHaveLength(1);
  const before = t.store.statementCount();
  for (let n = 0; n < 100; n++) log.refuse(unauthenticated("missing"));
  await settled();
  expect(t.store.statementCount()).toBe(before);
  await t.time.advance(5_000);
  expect(await counts()).toEqual([200]);
  await t.time.advance(60_000);
  log.refuse(unauthenticated("missing"));
  expect((await counts()).sort()).toEqual([1, 200]);
  await log.close();
});

test("AUD-3 what is left is written when the server ends", async () => {
  await using t = await TestEngine.start();
  const log = new Log(t);
  for (let n = 0; n < 3; n++) {
    log.refuse(unauthenticated("missing"));
    await settled();
  }
  await log.close();
  expect((await log.rows()).map(({ count }) => count)).toEqual([3]);
});

test("AUD-3 a flood of refusals in ever new ways is no flood of rows, and each is counted", async () => {
  await using t = await TestEngine.start();
  const log = new Log(t);
  for (let n = 0; n < 5_000; n++) log.refuse(lacking(`hook:x${n}:read`), { caller: bot() });
  for (let n = 0; n < 5_000; n++) {
    log.refuse(unauthenticated("missing"), { address: `10.0.${n >> 8}.${n & 255}` });
  }
  await log.close();
  const { total } = await t.store.audit.list(page);
  expect(total).toBeLessThanOrEqual(1_010);
  let counted = 0;
  for (let offset = 0; offset < total; offset += 500) {
    const { items } = await t.store.audit.list({ limit: 500, offset });
    counted += items.reduce((sum, { count }) => sum + count, 0);
  }
  expect(counted).toBe(10_000);
  const ofBot = await t.store.audit.list({ ...page, actor: "bot" });
  expect(ofBot.total).toBe(51);
});

test("AUD-2 a store that is away loses refusals and nothing else", async () => {
  await using t = await TestEngine.start();
  const log = new Log(t);
  t.failing.add("audit.add");
  log.refuse(unauthenticated("missing"));
  expect(await log.rows()).toEqual([]);
  t.failing.clear();
  log.refuse(unauthenticated("missing"));
  await log.close();
  expect((await log.rows()).map(({ count }) => count)).toEqual([1]);
});

test("AUD-2 AUD-3 every 401 and 403 of a server is in the audit log under the route's name", async () => {
  const { server, store, adminKey, ask } = await guardedServer();
  await ask("/executions");
  await ask("/executions", "x");
  await ask("/workers/w/poll", adminKey, {});
  await ask("/executions", adminKey);
  await server.close();
  const { items } = await store.audit.list({ ...page, decision: "deny" });
  const said = items.map(({ action, actor, reason, count }) => [
    ...[action, actor?.subject, reason],
    count,
  ]);
  expect(said.toSorted()).toEqual([
    ["executions.list", undefined, "missing", 2],
    ["workers.poll", undefined, "credential_kind", 1],
  ]);
});
