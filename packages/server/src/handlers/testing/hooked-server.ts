/** A server with hooks, accounts of every kind and callers with different rights. */
import type { DeadReason, HookRecord, Json } from "@engine/contract";
import { type HookChange, type OutboxOptions, openSqliteStore, type Store } from "@engine/store";
import { expect, onTestFinished } from "vitest";
import { type Ask, accountOf, asking } from "../../auth/testing/asking.ts";
import {
  type Asked,
  type GuardedServer,
  guardedServer,
} from "../../auth/testing/guarded-server.ts";

const SOURCE = `import { task, workflow } from "@engine/sdk";
import { z } from "zod";
const charge = task({ name: "charge" }, async (input) => input);
export const pay = workflow({ name: "pay" }, async (input) => charge(input));
export const plain = workflow({ name: "plain" }, async (input) => input);
const input = z.object({ hop: z.number().min(1) });
export const picky = workflow({ name: "picky", input }, async (input) => input);
`;
export const RUN = "workflow:default:pay:run";
export const CHARGE = "workflow:default:pay:task:charge:execute";

/** Events become deliveries as of any store; the servers of these tests leave them where they are. */
const OUTBOX: OutboxOptions = {
  ...{ enabled: true, max_value_bytes: 65_536, snapshot_ttl_seconds: 0 },
  redact: (json) => json,
};
const UNDRAINED = { hooks: { enabled: false } };

export const KINDS = ["bot", "off", "gone", "banned", "user", "poor", "half"] as const;
export type Kind = (typeof KINDS)[number];

/** What naming each account for the workflow `pay` is answered with, by a caller who may. */
export const REFUSED: Readonly<Record<Exclude<Kind, "bot">, object>> = {
  gone: { status: 400, code: "principal_not_found", details: { principal: "gone" } },
  user: { status: 400, code: "principal_not_service_account", details: { principal: "user" } },
  // It is disabled, too.
  banned: { status: 400, code: "principal_banned", details: { principal: "banned" } },
  off: { status: 400, code: "principal_disabled", details: { principal: "off" } },
  poor: {
    ...{ status: 403, code: "principal_not_permitted" },
    details: { principal: "poor", missing_permissions: [RUN] },
  },
  half: {
    ...{ status: 403, code: "principal_not_permitted" },
    details: { principal: "half", missing_permissions: [CHARGE] },
  },
};

export interface HookedServer extends GuardedServer {
  readonly admin: Ask;
  /** Has all grants of hooks, and may be nobody else. */
  readonly manager: Ask;
  /** The same, and may be anybody. */
  readonly trusted: Ask;
  /** A caller with exactly these permissions. */
  may(name: string, permissions: readonly string[]): Promise<Ask>;
  /** Makes a hook of `pay` for `bot`, named `page` and fired by nothing unless said otherwise. */
  create(ask: Ask, changes?: object): Promise<Asked>;
  /** The hook `page` is changed where only the store can say so. */
  rewrite(change: HookChange): Promise<void>;
  page(): Promise<HookRecord>;
  /** Runs `pay` once, so that a hook fired by its creation has one delivery more. */
  fire(input?: Json): Promise<void>;
  /** The newest delivery of `page` dies. */
  die(dead_reason?: DeadReason): Promise<string>;
}

interface Options {
  readonly wrap?: (store: Store) => Store;
  /** `[engine.security.auth]` */
  readonly auth?: object;
  /** Other keys of `[engine]`. */
  readonly config?: object;
  readonly clock?: () => number;
}

export async function hookedServer(options: Options = {}): Promise<HookedServer> {
  const { wrap = (store: Store) => store, auth = {}, config = {}, clock = Date.now } = options;
  const store = await openSqliteStore({
    ...{ path: ":memory:", synchronous: "normal", clock },
    hooks: OUTBOX,
  });
  onTestFinished(() => store.close());
  const guarded = await guardedServer({
    ...{ store: wrap(store), clock, auth: { enabled: true, ...auth } },
    config: { ...UNDRAINED, ...config },
  });
  const admin = asking(guarded, guarded.adminKey);
  await admin("POST", "/workflows", { source: SOURCE });
  await role("half", [RUN]);
  const manager = await may("manager", ["hook:*"]);
  const trusted = await may("trusted", ["hook:*", "principal:*:impersonate"]);
  for (const subject of ["bot", "off", "banned"]) await accountOf(admin, subject, ["operator"]);
  for (const subject of ["off", "banned"])
    await admin("POST", `/admin/principals/${subject}/disable`);
  await admin("POST", "/admin/principals/banned/ban");
  await accountOf(admin, "poor", ["viewer"]);
  await accountOf(admin, "half", ["half"]);
  const issuer = "https://id.example";
  await admin("POST", "/admin/principals", { subject: "user", type: "user", issuer });
  await create(admin);
  const callers = { admin, manager, trusted, may };
  return { ...guarded, store, ...callers, create, rewrite, page, fire, die };

  async function role(name: string, permissions: readonly string[]): Promise<void> {
    await admin("POST", "/admin/roles", { name, permissions });
  }

  async function may(name: string, permissions: readonly string[]): Promise<Ask> {
    await role(name, permissions);
    return asking(guarded, await accountOf(admin, name, [name]));
  }

  function create(ask: Ask, changes: object = {}): Promise<Asked> {
    const fields = { selectors: ["execution:none:*:failed"], workflow: "pay", principal: "bot" };
    return ask("POST", "/hooks", { name: "page", ...fields, ...changes });
  }

  async function rewrite(change: HookChange): Promise<void> {
    const { id, revision } = (await store.hooks.find("page")) ?? expect.unreachable();
    await store.hooks.change("page", change, { hook_id: id, revision, by: null });
  }

  async function page(): Promise<HookRecord> {
    const { status: _, ...record } = (await admin("GET", "/hooks/page")).body;
    return record;
  }

  async function fire(input: Json = null): Promise<void> {
    await admin("POST", "/workflows/default/pay/run/async", input);
  }

  async function die(dead_reason: DeadReason = "input_rejected"): Promise<string> {
    const hook = (await store.hooks.find("page")) ?? expect.unreachable();
    const { items } = await store.deliveries.list(hook.id, { limit: 1, offset: 0 });
    const [{ id, attempts } = expect.unreachable()] = items;
    const guard = { delivery_id: id, attempts, hook_id: hook.id, revision: hook.revision };
    const error = "hop: expected a number";
    await store.deliveries.fail(guard, {
      ...{ attempts: attempts + 1, error, dead_reason, next_attempt_at: null },
    });
    return id;
  }
}

/** Status, code and details of a refusal. */
export function refusalOf({ status, body }: Asked): object {
  const { code, details } = body.error;
  return { status, code, details };
}
