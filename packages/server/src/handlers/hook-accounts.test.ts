/** Who may make a hook run as an account, and in which order that is found out. */
import { interposed, type NewHookRow, type Store } from "@engine/store";
import { expect, test, vi } from "vitest";
import { type Ask, accountOf, asking } from "../auth/testing/asking.ts";
import { changeByNobody } from "../auth/testing/change-by-nobody.ts";
import type { Asked } from "../auth/testing/guarded-server.ts";
import { CHARGE, hookedServer, KINDS, REFUSED, RUN, refusalOf } from "./testing/hooked-server.ts";

vi.setConfig({ testTimeout: 60_000 });

const asBot = "principal:bot:impersonate";
const DELIVERY = "01900000-0000-7000-8000-000000000001";

/** What is asked for by somebody who may do everything with hooks, and be nobody else (HOOK-40). */
const ACTIONS: readonly [string, (ask: Ask) => Promise<Asked>, expected: number | string][] = [
  ["create", (ask) => ask("POST", "/hooks", made({})), asBot],
  ["create a disabled one", (ask) => ask("POST", "/hooks", made({ enabled: false })), asBot],
  ["change the account", put({ principal: "off" }), "principal:off:impersonate"],
  ["change the workflow", put({ workflow: "plain" }), asBot],
  ["add a selector", put({ selectors: ["execution:*", "task:*"] }), asBot],
  ["take one away", put({ selectors: ["execution:*"] }), asBot],
  ["enable", put({ enabled: true }), asBot],
  [
    "change account and workflow",
    put({ principal: "off", workflow: "plain" }),
    "principal:off:impersonate",
  ],
  ["a free change with one that is not", put({ max_attempts: 7, enabled: true }), asBot],
  ["disable", put({ enabled: false }), 200],
  ["change the tries", put({ max_attempts: 7 }), 200],
  ["disable with other tries", put({ max_attempts: 7, enabled: false }), 200],
  ["change nothing", put({}), 200],
  ["send the account it has", put({ principal: "bot" }), 200],
  ["send the workflow it has, by its short name", put({ workflow: "pay" }), 200],
  [
    "send the selectors it has, in another order and twice",
    put({ selectors: ["task:a:*", "execution:none:*", "task:a:*"] }),
    200,
  ],
  ["test", (ask) => ask("POST", "/hooks/page/test"), asBot],
  ["retry", (ask) => ask("POST", `/hooks/page/deliveries/${DELIVERY}/retry`), asBot],
  ["retry many", (ask) => ask("POST", "/hooks/page/deliveries/retry"), asBot],
  ["get", (ask) => ask("GET", "/hooks/page"), 200],
  ["list", (ask) => ask("GET", "/hooks"), 200],
  ["list deliveries", (ask) => ask("GET", "/hooks/page/deliveries"), 200],
  ["get a delivery", (ask) => ask("GET", `/hooks/page/deliveries/${DELIVERY}`), 404],
  ["delete", (ask) => ask("DELETE", "/hooks/page"), 204],
];

function made(changes: object): object {
  return {
    ...{ name: "other", workflow: "pay", principal: "bot", selectors: ["execution:*"] },
    ...changes,
  };
}

function put(body: object): (ask: Ask) => Promise<Asked> {
  return (ask) => ask("PUT", "/hooks/page", body);
}

test.each(ACTIONS)("HOOK-40 HOOK-41 what it takes to %s", async (_, ask, expected) => {
  const t = await hookedServer();
  await t.rewrite({ enabled: false, selectors: ["execution:none:*", "task:a:*"] });
  const before = await t.page();
  const answer = await ask(t.manager);
  if (typeof expected === "number") {
    expect(answer.status).toBe(expected);
    return;
  }
  expect(refusalOf(answer)).toEqual({
    ...{ status: 403, code: "permission_denied", details: { missing_permissions: [expected] } },
  });
  // What is free goes with what is not: all of it or nothing.
  expect(await t.page()).toEqual(before);
  expect((await t.admin("GET", "/hooks/other")).status).toBe(404);
  const allowed = await t.may("allowed", ["hook:*", expected]);
  const { status } = await ask(allowed);
  expect([status, status === 403]).toEqual([expect.any(Number), false]);
});

test("HOOK-41 sending again what a hook has checks nothing anew, also where it would be refused", async () => {
  const t = await hookedServer();
  for (const principal of KINDS) {
    await t.rewrite({ principal, workflow: "default/nothing" });
    const before = await t.page();
    const { selectors } = before;
    const same = { selectors, workflow: "nothing", principal, max_attempts: 5, enabled: true };
    const { status, body } = await t.manager("PUT", "/hooks/page", same);
    expect([principal, status, body]).toEqual([principal, 200, before]);
  }
});

/** One request after another, each with less that is wrong with it (HOOK-42). */
type Step = readonly [who: string, changes: object, status: number, code: string];

const BAD = { selectors: ["execution:a:b:FAILED"] };
const CREATES: readonly Step[] = [
  ["nobody", { ...BAD, colour: 1 }, 401, "unauthenticated"],
  ["reader", { ...BAD, colour: 1 }, 403, "permission_denied"],
  ["manager", { ...BAD, principal: "gone", workflow: "nothing", colour: 1 }, 422, "invalid_input"],
  ["manager", { ...BAD, principal: "gone", workflow: "nothing" }, 400, "invalid_selector"],
  ["manager", { principal: "gone", workflow: "nothing" }, 403, "permission_denied"],
  ["trusted", { principal: "gone", workflow: "nothing" }, 400, "principal_not_found"],
  ["trusted", { principal: "user", workflow: "nothing" }, 400, "principal_not_service_account"],
  ["trusted", { principal: "banned", workflow: "nothing" }, 400, "principal_banned"],
  ["trusted", { principal: "off", workflow: "nothing" }, 400, "principal_disabled"],
  ["trusted", { principal: "poor", workflow: "nothing" }, 403, "principal_not_permitted"],
  ["trusted", { workflow: "nothing" }, 404, "target_not_found"],
  ["trusted", { principal: "half" }, 403, "principal_not_permitted"],
  ["trusted", {}, 409, "hook_exists"],
  ["trusted", { name: "other" }, 201, ""],
];

test("HOOK-42 what is wrong with a creation is told in one order, the first of it alone", async () => {
  const t = await hookedServer();
  const who = await callers(t);
  const told: Step[] = [];
  for (const [name, changes] of CREATES) {
    const { status, body } = await t.create(who(name), changes);
    told.push([name, changes, status, body.error?.code ?? ""]);
  }
  expect(told).toEqual(CREATES);
});

type Asking = readonly [who: string, path: string, body: object | undefined, number, string];

const UPDATES: readonly Asking[] = [
  ["nobody", "/hooks/none", { colour: 1 }, 401, "unauthenticated"],
  ["reader", "/hooks/none", { colour: 1 }, 403, "permission_denied"],
  ["manager", "/hooks/none", { ...BAD, colour: 1 }, 422, "invalid_input"],
  ["manager", "/hooks/none", { ...BAD, principal: "gone" }, 404, "not_found"],
  ["manager", "/hooks/declared", { ...BAD, principal: "gone" }, 409, "hook_is_declared"],
  ["manager", "/hooks/page", { ...BAD, principal: "gone" }, 400, "invalid_selector"],
  ["manager", "/hooks/page", { principal: "gone", workflow: "nothing" }, 403, "permission_denied"],
  ["trusted", "/hooks/page", { principal: "gone", workflow: "no" }, 400, "principal_not_found"],
  ["trusted", "/hooks/page", { principal: "off", workflow: "no" }, 400, "principal_disabled"],
  ["trusted", "/hooks/page", { principal: "poor", workflow: "no" }, 403, "principal_not_permitted"],
  ["trusted", "/hooks/page", { workflow: "no" }, 404, "target_not_found"],
  ["trusted", "/hooks/page", { principal: "half" }, 403, "principal_not_permitted"],
  ["trusted", "/hooks/page", { workflow: "plain" }, 200, ""],
];

const other = { selector: "task:*" };
const TESTS: readonly Asking[] = [
  ["reader", "/hooks/none/test", { colour: 1 }, 403, "permission_denied"],
  ["manager", "/hooks/none/test", { ...other, colour: 1 }, 422, "invalid_input"],
  ["manager", "/hooks/none/test", other, 404, "not_found"],
  ["manager", "/hooks/page/test", other, 400, "invalid_selector"],
  ["manager", "/hooks/page/test", {}, 403, "permission_denied"],
  ["trusted", "/hooks/of-gone/test", {}, 400, "principal_not_found"],
  ["trusted", "/hooks/of-poor/test", {}, 403, "principal_not_permitted"],
  ["trusted", "/hooks/of-bot/test", {}, 404, "target_not_found"],
  ["trusted", "/hooks/of-half/test", {}, 403, "principal_not_permitted"],
  ["trusted", "/hooks/picky/test", {}, 422, "invalid_input"],
  ["trusted", "/hooks/declared/test", {}, 202, ""],
];

const retryOf = (hook: string, id = DELIVERY) => `/hooks/${hook}/deliveries/${id}/retry`;
const RETRIES: readonly Asking[] = [
  ["reader", retryOf("none"), undefined, 403, "permission_denied"],
  ["manager", retryOf("none"), undefined, 404, "not_found"],
  ["manager", retryOf("page"), undefined, 403, "permission_denied"],
  ["trusted", retryOf("page"), undefined, 404, "not_found"],
  ["trusted", retryOf("page", "<pending>"), undefined, 409, "delivery_not_dead"],
  // The drain judges the account and the target (HOOK-43).
  ["trusted", retryOf("of-gone"), undefined, 404, "not_found"],
];

test.each<[string, "PUT" | "POST", readonly Asking[]]>([
  ["a change", "PUT", UPDATES],
  ["a test", "POST", TESTS],
  ["a retry", "POST", RETRIES],
])(
  "HOOK-42 HOOK-43 what is wrong with %s is told in one order, the first of it alone",
  async (...row) => {
    const [, method, steps] = row;
    const t = await hookedServer();
    const who = await callers(t);
    await furnish(t.store);
    await t.rewrite({ selectors: ["execution:default:pay:created"] });
    await t.fire();
    const { items } = (await t.admin("GET", "/hooks/page/deliveries")).body;
    const told: Asking[] = [];
    for (const [name, path, body] of steps) {
      const answer = await who(name)(method, path.replace("<pending>", items[0].id), body);
      told.push([name, path, body, answer.status, answer.body.error?.code ?? ""]);
    }
    expect(told).toEqual(steps);
  },
);

async function callers(t: Awaited<ReturnType<typeof hookedServer>>) {
  const reader = await t.may("reader", ["hook:*:read"]);
  const nobody: Ask = async (method, path, body) => {
    const headers = { "content-type": "application/json" };
    const sent = { method, headers, body: JSON.stringify(body) };
    const response = await fetch(t.server.url + path, sent);
    return { status: response.status, headers: response.headers, body: await response.json() };
  };
  const { manager, trusted } = t;
  const all: Readonly<Record<string, Ask>> = { nobody, reader, manager, trusted };
  return (name: string) => all[name] ?? expect.unreachable(name);
}

/** Hooks as only a database can have them: of accounts and targets that would be refused, and declared. */
async function furnish(store: Store): Promise<void> {
  const hook: Omit<NewHookRow, "id" | "name"> = {
    ...{ enabled: true, selectors: ["execution:none:*"], max_attempts: 5, created_by: null },
    ...{ workflow: "default/pay", principal: "bot", owner_type: "user", owner_ref: null },
  };
  const nothing = "default/nothing";
  await store.hooks.create({ ...hook, id: "h1", name: "of-gone", principal: "gone" });
  const poor = { principal: "poor", workflow: nothing };
  await store.hooks.create({ ...hook, id: "h2", name: "of-poor", ...poor });
  await store.hooks.create({ ...hook, id: "h3", name: "of-bot", workflow: nothing });
  await store.hooks.create({ ...hook, id: "h4", name: "of-half", principal: "half" });
  await store.hooks.create({ ...hook, id: "h5", name: "picky", workflow: "default/picky" });
  const owner = { owner_type: "workflow", owner_ref: "billing/charge" } as const;
  await store.hooks.create({ ...hook, id: "h6", name: "declared", ...owner });
}

/** Requests that can make something run as the account, for an account and a target. */
const WAYS: Readonly<Record<string, (t: Way, principal: string) => Promise<Asked>>> = {
  "a creation": ({ ask, workflow }, principal) =>
    ask("POST", "/hooks", made({ principal, workflow })),
  "another account": ({ ask, workflow }, principal) =>
    ask("PUT", "/hooks/page", { principal, workflow, max_attempts: 9 }),
  "a test": async ({ ask, rewrite, workflow }, principal) => {
    await rewrite({ principal, workflow: `default/${workflow}` });
    return ask("POST", "/hooks/page/test");
  },
  "another selector": async ({ ask, rewrite, workflow }, principal) => {
    await rewrite({ principal, workflow: `default/${workflow}` });
    return ask("PUT", "/hooks/page", { selectors: ["task:*"] });
  },
  "a retry": async ({ ask, rewrite, workflow }, principal) => {
    await rewrite({ principal, workflow: `default/${workflow}` });
    return ask("POST", `/hooks/page/deliveries/${DELIVERY}/retry`);
  },
};

interface Way extends Pick<Awaited<ReturnType<typeof hookedServer>>, "rewrite"> {
  readonly ask: Ask;
  readonly workflow: string;
}

test.each(Object.entries(WAYS))(
  "HOOK-42 AUTH-47 %s without the grant is one refusal, byte for byte, whatever account and target are",
  async (_, way) => {
    const asked: string[] = [];
    const t = await hookedServer({ wrap: (store) => noted(store, asked) });
    // From now on the caller is known.
    await t.manager("GET", "/hooks/page");
    const texts = new Set<string>();
    const lookups = new Set<string>();
    for (const workflow of ["pay", "nothing"]) {
      // The hook is this one's already, so that nothing would be changed of its account.
      const kinds = KINDS.filter((kind) => kind !== "bot");
      for (const kind of kinds) {
        await t.rewrite({ principal: "bot", workflow: "default/plain" });
        asked.length = 0;
        const { status, body } = await way({ ...t, ask: t.manager, workflow }, kind);
        // Who asks is read again when some time has passed, whatever they ask for.
        const isOfTarget = (name: string) =>
          !/^(audit\.|epochs\.|identities\.findByKey$)/.test(name);
        lookups.add(asked.filter(isOfTarget).join());
        texts.add(JSON.stringify([status, body]).replaceAll(kind, "SUBJECT"));
      }
    }
    const details = { missing_permissions: ["principal:SUBJECT:impersonate"] };
    const message = "the caller lacks principal:SUBJECT:impersonate";
    const error = { code: "permission_denied", message, details };
    expect([...texts]).toEqual([JSON.stringify([403, { error }])]);
    expect([...lookups]).toHaveLength(1);
  },
);

/** Notes which methods of the store are called. */
function noted(store: Store, asked: string[]): Store {
  return interposed(store, ({ name }, call) => {
    if (!call) return undefined;
    return (...args) => {
      asked.push(name);
      return call(...args);
    };
  });
}

test.each(["a creation", "another account", "a test"])(
  "HOOK-38 HOOK-42 %s with the grant says what is wrong with the account, and changes nothing",
  async (name) => {
    const way = WAYS[name] ?? expect.unreachable();
    const t = await hookedServer();
    for (const [kind, refused] of Object.entries(REFUSED)) {
      await t.rewrite({ principal: "bot", workflow: "default/plain" });
      const answer = await way({ ...t, ask: t.trusted, workflow: "pay" }, kind);
      expect(refusalOf(answer), kind).toEqual(refused);
      expect(await t.page()).toMatchObject({ max_attempts: 5 });
    }
    expect((await t.admin("GET", "/hooks/other")).status).toBe(404);
    const { items } = (await t.admin("GET", "/executions")).body;
    expect(items).toEqual([]);
  },
);

test("HOOK-38 HOOK-42 that a target exists is told to those only who name an account that may run it", async () => {
  const { trusted, create } = await hookedServer();
  const refused = async (principal: string, workflow: string) =>
    refusalOf(await create(trusted, { name: "other", principal, workflow }));
  const details = (name: string) => ({
    ...{ principal: "poor", missing_permissions: [`workflow:default:${name}:run`] },
  });
  const barred = { status: 403, code: "principal_not_permitted" };
  expect(await refused("poor", "pay")).toEqual({ ...barred, details: details("pay") });
  expect(await refused("poor", "nothing")).toEqual({ ...barred, details: details("nothing") });
  expect(await refused("bot", "nothing")).toEqual({
    ...{ status: 404, code: "target_not_found", details: { workflow: "default/nothing" } },
  });
  expect(await refused("half", "pay")).toEqual(REFUSED.half);
});

test("HOOK-1 AUTH-47 an account is named by its subject, never by its id", async () => {
  const { admin, trusted, create } = await hookedServer();
  const { id } = (await admin("GET", "/admin/principals/bot")).body;
  const answer = await create(trusted, { name: "other", principal: id });
  expect(refusalOf(answer)).toMatchObject({ status: 400, code: "principal_not_found" });
});

test("HOOK-43 a hook whose account is gone is disabled, changed in its tries, retried and deleted all the same", async () => {
  const t = await hookedServer();
  await t.rewrite({ selectors: ["execution:default:pay:created"] });
  await t.fire();
  const id = await t.die();
  await t.rewrite({ principal: "gone", workflow: "default/nothing" });
  const { trusted } = t;
  expect((await trusted("PUT", "/hooks/page", { enabled: false })).status).toBe(200);
  expect((await trusted("PUT", "/hooks/page", { max_attempts: 9 })).status).toBe(200);
  expect((await trusted("POST", `/hooks/page/deliveries/${id}/retry`)).status).toBe(200);
  const enabled = await trusted("PUT", "/hooks/page", { enabled: true });
  expect(refusalOf(enabled)).toMatchObject({ code: "principal_not_found" });
  expect((await trusted("DELETE", "/hooks/page")).status).toBe(204);
});

test("HOOK-44 account and roles are read from the store, also where no server heard of their change", async () => {
  const t = await hookedServer();
  expect((await t.trusted("POST", "/hooks/page/test")).status).toBe(202);
  const bot = await t.store.identities.findBySubject("bot", "engine");
  await t.store.principals.change(bot?.id ?? "", () => ({ enabled: false }), changeByNobody());
  expect(refusalOf(await t.trusted("POST", "/hooks/page/test"))).toEqual({
    ...{ status: 400, code: "principal_disabled", details: { principal: "bot" } },
  });
  const { problems } = (await t.admin("GET", "/hooks/page")).body.status;
  expect(problems).toEqual(["hooks_disabled", "principal_disabled"]);
});

test("HOOK-26 HOOK-44 the target is looked for in the store, also where it was found a moment ago", async () => {
  const t = await hookedServer();
  expect((await t.trusted("POST", "/hooks/page/test")).status).toBe(202);
  await t.store.catalog.delete("default", "pay", undefined, (schedule) => schedule);
  expect(refusalOf(await t.trusted("POST", "/hooks/page/test"))).toEqual({
    ...{ status: 404, code: "target_not_found", details: { workflow: "default/pay" } },
  });
});

test.each<[string, object, number, string | undefined]>([
  ["its account", { principal: "off" }, 400, "principal_disabled"],
  ["its tries", { max_attempts: 9 }, 200, undefined],
])(
  "HOOK-37 a change is checked anew where somebody else has changed %s meanwhile",
  async (_, meanwhile, status, code) => {
    let between: (() => Promise<unknown>) | undefined;
    const t = await hookedServer({
      wrap: (store) =>
        interposed(store, ({ name }, call) => {
          if (!call) return undefined;
          return async (...args) => {
            if (name === "hooks.change") await between?.();
            return call(...args);
          };
        }),
    });
    between = async () => {
      between = undefined;
      await t.rewrite(meanwhile);
    };
    const answer = await t.trusted("PUT", "/hooks/page", { workflow: "plain" });
    expect([answer.status, answer.body.error?.code]).toEqual([status, code]);
    const workflow = status === 200 ? "default/plain" : "default/pay";
    expect(await t.page()).toMatchObject({ ...meanwhile, workflow });
  },
);

test("HOOK-37 a change that was allowed for a hook is not made of another one that has its name by now", async () => {
  let between: (() => Promise<unknown>) | undefined;
  const t = await hookedServer({
    wrap: (store) =>
      interposed(store, ({ name }, call) => {
        if (!call) return undefined;
        return async (...args) => {
          if (name === "hooks.change") await between?.();
          return call(...args);
        };
      }),
  });
  const asBotOnly = await t.may("as-bot", ["hook:*", asBot]);
  between = async () => {
    between = undefined;
    await t.admin("DELETE", "/hooks/page");
    await t.create(t.admin, { principal: "admin" });
  };
  expect(refusalOf(await asBotOnly("PUT", "/hooks/page", { workflow: "plain" }))).toEqual({
    ...{ status: 403, code: "permission_denied" },
    details: { missing_permissions: ["principal:admin:impersonate"] },
  });
  expect(await t.page()).toMatchObject({ workflow: "default/pay", principal: "admin" });
});

test("AUD-2 HOOK-40 each write is in the audit log, with the use of an account where there is one", async () => {
  const t = await hookedServer();
  await t.create(t.trusted, { name: "other", selectors: ["execution:default:pay:created"] });
  await t.trusted("PUT", "/hooks/other", { workflow: "plain" });
  await t.trusted("PUT", "/hooks/other", { workflow: "plain" });
  await t.trusted("PUT", "/hooks/other", { max_attempts: 9 });
  await t.trusted("POST", "/hooks/other/test");
  await t.trusted("DELETE", "/hooks/other");
  const { items } = (await t.admin("GET", "/admin/audit?actor=trusted")).body;
  type Entry = { action: string; target: string; permissions: string[]; changes: object | null };
  expect(items.map(({ action, permissions }: Entry) => [action, ...permissions])).toEqual([
    ["hooks.delete"],
    ["hooks.test", asBot],
    ["hooks.update"],
    ["hooks.update", asBot],
    ["hooks.create", asBot],
  ]);
  expect(items.map(({ target }: Entry) => target)).toEqual(Array(5).fill("other"));
  expect(items.slice(2, 4).map(({ changes }: Entry) => changes)).toEqual([
    { max_attempts: { before: 5, after: 9 } },
    { workflow: { before: "default/pay", after: "default/plain" } },
  ]);
});

test("HOOK-44 revoking the grant stops later configuration", async () => {
  const t = await hookedServer();
  await t.admin("PUT", "/admin/roles/trusted", { permissions: ["hook:*"] });
  const { status, body } = await t.trusted("POST", "/hooks/page/test");
  expect([status, body.error.details]).toEqual([403, { missing_permissions: [asBot] }]);
});

test("HOOK-42 AUTH-31 all that running takes is asked of the account, and nothing besides", async () => {
  const t = await hookedServer();
  await t.admin("PUT", "/admin/roles/half", { permissions: [RUN, CHARGE] });
  expect((await t.create(t.trusted, { name: "other", principal: "half" })).status).toBe(201);
});

test("HOOK-34 HOOK-58 whoever makes up an envelope begins a chain: nobody silences the hooks of others by an input", async () => {
  const t = await hookedServer();
  await t.rewrite({ selectors: ["execution:default:pay:created"] });
  await t.fire();
  const [first = expect.unreachable()] = (await t.admin("GET", "/hooks/page/deliveries")).body
    .items;
  expect(first.hop).toBe(0);
  const envelope = { event_key: first.event_key, hop: 2 };
  const forged = [
    // Of nothing, and of a delivery that has started nothing of this caller.
    { delivery_id: DELIVERY, event_key: "x:1", hop: 2 },
    // No column takes that.
    { delivery_id: "\u0000".repeat(36), event_key: "x:1", hop: 2 },
    { ...envelope, delivery_id: first.id },
    { ...envelope, delivery_id: first.id, hop: 99 },
  ];
  for (const input of forged) await t.fire(input);
  const { items } = (await t.admin("GET", "/hooks/page/deliveries")).body;
  expect(items.map(({ hop }: { hop: number }) => hop)).toEqual([0, 0, 0, 0, 0]);
});

test("HOOK-33 HOOK-34 the account of a target that hands on its envelope goes on with the chain, and no one else", async () => {
  const t = await hookedServer({ config: { hooks: { enabled: true } } });
  const mover = asking(t, await accountOf(t.admin, "mover", ["operator"]));
  await t.rewrite({
    ...{ selectors: ["execution:default:pay:created"], workflow: "default/plain" },
    principal: "mover",
  });
  await t.fire();
  const delivered = await vi.waitFor(async () => {
    const { items } = (await t.admin("GET", "/hooks/page/deliveries")).body;
    expect(items).toMatchObject([{ status: "delivered" }]);
    return items[0];
  });
  const path = `/hooks/page/deliveries/${delivered.id}`;
  const { envelope } = (await t.admin("GET", path)).body;
  const lineageOf = async (ask: Ask, input: object) => {
    const { body } = await ask("POST", "/workflows/default/plain/run/async", input);
    return (await t.store.executions.find(body.execution_id))?.hook;
  };
  const { id: delivery_id } = delivered;
  const lineage = { name: "page", delivery_id, hop: 0 };
  expect(await lineageOf(mover, envelope)).toEqual(lineage);
  expect(await lineageOf(mover, { ...envelope, hook: "another", more: 1 })).toEqual(lineage);
  expect(await lineageOf(mover, { ...envelope, event_key: "x:1" })).toBeNull();
  expect(await lineageOf(t.admin, envelope)).toBeNull();
});
