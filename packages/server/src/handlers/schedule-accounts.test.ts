/** Whose rights the executions of schedules have, and who may say so. */
import type { Schedule } from "@engine/contract";
import { interposed, openSqliteStore, type Store } from "@engine/store";
import { expect, onTestFinished, test, vi } from "vitest";
import { type Ask, accountOf, asking } from "../auth/testing/asking.ts";
import { changeByNobody } from "../auth/testing/change-by-nobody.ts";
import { type Asked, guardedServer } from "../auth/testing/guarded-server.ts";
import { ManualTime } from "../testing/manual-time.ts";

vi.setConfig({ testTimeout: 60_000 });

const MINUTE = 60_000;
const often = { type: "cron", expression: "* * * * *", timezone: "UTC" };
const daily = { ...often, expression: "0 2 * * *" };
const SOURCE = `import { task, workflow } from "@engine/sdk";
const charge = task({ name: "charge" }, async (input) => input);
export const pay = workflow({ name: "pay" }, async (input) => charge(input));
`;
/** A second version of it, with a task more. */
const WIDER = `${SOURCE.replaceAll("charge(input)", "charge(await check(input))")}
const check = task({ name: "check" }, async (input) => input);
`;
const RUN = "workflow:default:pay:run";
const CHARGE = "workflow:default:pay:task:charge:execute";
const CHECK = "workflow:default:pay:task:check:execute";

const KINDS = ["bot", "off", "gone", "banned", "user", "poor", "half"] as const;
type Kind = (typeof KINDS)[number];

/** What naming each account is answered with, by a caller who may. */
const REFUSED: Readonly<Record<Exclude<Kind, "bot">, object>> = {
  gone: { status: 400, code: "principal_not_found", details: { principal: "gone" } },
  user: { status: 400, code: "principal_not_service_account", details: { principal: "user" } },
  // It is disabled, too.
  banned: { status: 400, code: "principal_banned", details: { principal: "banned" } },
  off: { status: 400, code: "principal_disabled", details: { principal: "off" } },
  poor: {
    status: 403,
    code: "principal_not_permitted",
    details: { principal: "poor", missing_permissions: [RUN, CHARGE] },
  },
  half: {
    status: 403,
    code: "principal_not_permitted",
    details: { principal: "half", missing_permissions: [CHARGE] },
  },
};

/**
 * A server with accounts of every kind, the schedule `nightly` of `bot`, and two callers: `manager` may
 * do everything with schedules but name an account, `trusted` may name any of them.
 */
async function scheduled({ wrap = (store: Store) => store, auth = {} } = {}) {
  const time = new ManualTime();
  const { clock, monotonic, setTimer } = time;
  const opened = await openSqliteStore({ path: ":memory:", synchronous: "normal", clock });
  onTestFinished(() => opened.close());
  const guarded = await guardedServer({
    ...{ store: wrap(opened), clock, monotonic, setTimer },
    auth: { enabled: true, ...auth },
  });
  const admin = asking(guarded, guarded.adminKey);
  await admin("POST", "/workflows", { source: SOURCE });
  await role("manager", ["schedule:*", "workflow:*:*:run", "workflow:*:*:task:*:execute"]);
  await role("trusted", ["principal:*:impersonate"]);
  await role("half", [RUN]);
  const manager = asking(guarded, await accountOf(admin, "manager", ["manager"]));
  const trusted = asking(guarded, await accountOf(admin, "trusted", ["manager", "trusted"]));
  for (const subject of ["bot", "off", "banned"]) await accountOf(admin, subject, ["operator"]);
  for (const subject of ["off", "banned"])
    await admin("POST", `/admin/principals/${subject}/disable`);
  await admin("POST", "/admin/principals/banned/ban");
  await accountOf(admin, "poor", ["viewer"]);
  await accountOf(admin, "half", ["half"]);
  const issuer = "https://id.example";
  await admin("POST", "/admin/principals", { subject: "user", type: "user", issuer });
  await create(admin);
  return { ...guarded, time, admin, manager, trusted, create, as, nightly, runs };

  async function role(name: string, permissions: readonly string[]): Promise<void> {
    await admin("POST", "/admin/roles", { name, permissions });
  }

  function create(ask: Ask, changes: object = {}): Promise<Asked> {
    const fields = { workflow: "pay", spec: often, run_as: "bot", input: { n: 1 } };
    return ask("POST", "/schedules", { name: "nightly", ...fields, ...changes });
  }

  /** The schedule's account is another one from now on, as only the store can be made to say. */
  async function as(kind: Kind, changes: object = {}): Promise<void> {
    await opened.schedules.change("nightly", () => ({ run_as: kind, ...changes }));
  }

  async function nightly(): Promise<Schedule> {
    return (await admin("GET", "/schedules/nightly")).body;
  }

  async function runs(): Promise<readonly { execution_id: string }[]> {
    return (await admin("GET", "/schedules/nightly/history")).body.items;
  }
}

function refusalOf({ status, body }: Asked) {
  const { code, details } = body.error;
  return { status, code, details };
}

/** What is sent again and again: never twice the same text. */
const withoutIds = ({ status, body }: Asked, subject: string): string =>
  JSON.stringify([status, body]).replaceAll(subject, "SUBJECT");

/** Every request that can make an execution run as a schedule's account (AUTH-46). */
const WAYS: Readonly<Record<string, (t: Way, kind: Kind) => Promise<Asked>>> = {
  "a creation": ({ create, ask }, run_as) => create(ask, { name: "other", run_as }),
  "another account": (t, run_as) =>
    t.of(run_as === "bot" ? "off" : "bot", () => t.change({ run_as, description: "taken along" })),
  "another version": (t, kind) => t.of(kind, () => t.change({ version: 1 })),
  "another input": (t, kind) => t.of(kind, () => t.change({ input: { n: 2 } })),
  "another routing input": (t, kind) => t.of(kind, () => t.change({ routing_input: { gpu: 1 } })),
  "other times": (t, kind) => t.of(kind, () => t.change({ spec: daily })),
  "a trigger": (t, kind) => t.of(kind, () => t.ask("POST", "/schedules/nightly/trigger")),
  "a resume of a paused one": (t, kind) =>
    t.of(kind, () => t.ask("POST", "/schedules/nightly/resume"), { status: "paused" }),
  "a resume of a disabled one": (t, kind) =>
    t.of(kind, () => t.ask("POST", "/schedules/nightly/resume"), { status: "disabled" }),
};

interface Way extends Pick<Awaited<ReturnType<typeof scheduled>>, "create"> {
  readonly ask: Ask;
  readonly change: (body: object) => Promise<Asked>;
  /** Asks with a schedule of that account. */
  readonly of: (kind: Kind, then: () => Promise<Asked>, changes?: object) => Promise<Asked>;
}

function wayOf({ create, as }: Awaited<ReturnType<typeof scheduled>>, ask: Ask): Way {
  return {
    create,
    ask,
    change: (body) => ask("PUT", "/schedules/nightly", body),
    of: async (kind, then, changes) => {
      await as(kind, changes);
      return then();
    },
  };
}

test.each(Object.entries(WAYS))(
  "AUTH-45 AUTH-47 %s without the grant is one refusal, whatever the account is, and changes nothing",
  async (_, ask) => {
    const asked: string[] = [];
    const t = await scheduled({
      wrap: (store) =>
        interposed(store, ({ name }, call) => {
          if (!call) return undefined;
          return (...args) => {
            asked.push(name);
            return call(...args);
          };
        }),
    });
    const way = wayOf(t, t.manager);
    // From now on the caller and the workflow are known.
    await ask(way, "bot");
    const texts = new Set<string>();
    const lookups = new Set<string>();
    for (const kind of KINDS) {
      asked.length = 0;
      const answer = await ask(way, kind);
      lookups.add(asked.filter((name) => !name.startsWith("audit.")).join());
      const missing_permissions = [`principal:${kind}:impersonate`];
      expect(refusalOf(answer)).toEqual({
        ...{ status: 403, code: "permission_denied", details: { missing_permissions } },
      });
      texts.add(withoutIds(answer, kind));
      expect(await t.nightly()).toMatchObject({
        ...{ version: null, input: { n: 1 }, routing_input_set: false, description: null },
        ...{ spec: often, run_count: 0 },
      });
    }
    expect(texts.size).toBe(1);
    expect([...lookups]).toHaveLength(1);
    expect([...lookups].join()).not.toContain("identities.");
    expect((await t.admin("GET", "/schedules/other")).status).toBe(404);
    expect(await t.runs()).toEqual([]);
  },
);

test.each(Object.entries(WAYS))(
  "AUTH-47 %s with the grant says what is wrong with the account, and changes nothing",
  async (_, ask) => {
    const t = await scheduled();
    const way = wayOf(t, t.trusted);
    for (const [kind, refused] of Object.entries(REFUSED)) {
      expect(refusalOf(await ask(way, kind as Kind)), kind).toEqual(refused);
      expect(await t.nightly()).toMatchObject({
        ...{ version: null, input: { n: 1 }, routing_input_set: false, description: null },
        ...{ spec: often, run_count: 0 },
      });
    }
    expect((await t.admin("GET", "/schedules/other")).status).toBe(404);
    expect(await t.runs()).toEqual([]);
    await t.as("poor", { status: "active" });
    const allowed = await ask(way, "bot");
    expect([200, 201, 202]).toContain(allowed.status);
  },
);

test("AUTH-47 an account is named by its subject, never by its id", async () => {
  const { admin, trusted, create } = await scheduled();
  const { id } = (await admin("GET", "/admin/principals/bot")).body;
  expect(refusalOf(await create(trusted, { name: "other", run_as: id }))).toMatchObject({
    ...{ status: 400, code: "principal_not_found" },
  });
});

test("AUTH-47 the account is told of before the workflow, and both after the grant", async () => {
  const { manager, trusted, create } = await scheduled();
  const unknown = { name: "other", workflow: "nothing" };
  const codeOf = async (ask: Ask, run_as: Kind) =>
    refusalOf(await create(ask, { ...unknown, run_as })).code;
  expect(await codeOf(manager, "gone")).toBe("permission_denied");
  expect(await codeOf(trusted, "gone")).toBe("principal_not_found");
  expect(await codeOf(trusted, "half")).toBe("principal_not_permitted");
  expect(await codeOf(trusted, "bot")).toBe("not_found");
});

test("EXE-74 AUTH-47 with authorization on a schedule is written for an account", async () => {
  const { trusted, create, as, nightly } = await scheduled();
  const refused = {
    ...{ status: 422, code: "invalid_input" },
    details: { issues: [expect.objectContaining({ path: "body.run_as" })] },
  };
  const nobody = { run_as: null };
  expect(refusalOf(await create(trusted, { name: "other", ...nobody }))).toEqual(refused);
  expect(refusalOf(await trusted("PUT", "/schedules/nightly", nobody))).toEqual(refused);
  expect(await nightly()).toMatchObject({ run_as: "bot" });
  await as("bot", nobody);
  expect(refusalOf(await trusted("PUT", "/schedules/nightly", { input: 2 }))).toEqual(refused);
  expect(refusalOf(await trusted("POST", "/schedules/nightly/trigger"))).toMatchObject({
    ...{ status: 400, code: "principal_not_found" },
  });
  const described = await trusted("PUT", "/schedules/nightly", { description: "x" });
  expect(described.body).toMatchObject({ description: "x", run_as: null });
});

test("AUTH-46 what is sent as it is, and what starts nothing, needs no grant and checks nothing again", async () => {
  const { manager, as, nightly } = await scheduled();
  const ask = async (body: object) => (await manager("PUT", "/schedules/nightly", body)).status;
  const same = { spec: { ...often }, input: { n: 1 }, routing_input: {}, version: null };
  for (const kind of KINDS) {
    await as(kind, { routing_input: {}, description: null, overlap: "skip" });
    expect(await ask({ ...same, run_as: kind }), kind).toBe(200);
    const harmless = { description: `of ${kind}`, overlap: "queue", catch_up: "none" };
    expect(await ask({ ...same, ...harmless }), kind).toBe(200);
    expect(await nightly()).toMatchObject({ ...harmless, run_as: kind, input: { n: 1 } });
    // What is free goes with what is not: all of it or nothing.
    expect(await ask({ description: "more", input: 2 }), kind).toBe(403);
    expect(await nightly()).toMatchObject(harmless);
  }
  await as("gone");
  for (const path of ["resume", "pause"]) {
    expect((await manager("POST", `/schedules/nightly/${path}`)).status).toBe(200);
  }
  expect((await manager("DELETE", "/schedules/nightly")).status).toBe(204);
});

test("AUTH-10 AUTH-31 whoever makes a schedule start may run what starts: all that lacks is told at once", async () => {
  const t = await scheduled();
  const may = async (name: string, permissions: readonly string[]): Promise<Ask> => {
    await t.admin("POST", "/admin/roles", { name, permissions });
    return asking(t, await accountOf(t.admin, name, [name]));
  };
  const running = await may("running", ["schedule:*", RUN]);
  const reading = await may("reading", ["schedule:*", "workflow:default:pay:read"]);
  const blind = await may("blind", ["schedule:*"]);
  const asBot = "principal:bot:impersonate";
  const cases: [Ask, string[]][] = [
    [running, [CHARGE, asBot]],
    [reading, [RUN, CHARGE, asBot]],
    [blind, [RUN, asBot]],
  ];
  for (const [ask, missing_permissions] of cases) {
    const ways = [
      t.create(ask, { name: "other" }),
      ask("PUT", "/schedules/nightly", { input: 2 }),
      ask("POST", "/schedules/nightly/trigger"),
    ];
    for (const asked of ways)
      expect(refusalOf(await asked).details).toEqual({ missing_permissions });
    const described = await ask("PUT", "/schedules/nightly", { description: "x" });
    const rest = missing_permissions.filter((permission) => permission !== asBot);
    expect(refusalOf(described).details).toEqual({ missing_permissions: rest });
  }
  await t.admin("POST", "/workflows", { source: WIDER });
  const wide = await may("wide", ["schedule:*", RUN, CHARGE, "principal:*:impersonate"]);
  // The version that will run decides, not the one that ran.
  await t.as("bot", { version: 1 });
  const moved = await wide("PUT", "/schedules/nightly", { version: 2 });
  expect(refusalOf(moved).details).toEqual({ missing_permissions: [CHECK] });
  expect((await wide("PUT", "/schedules/nightly", { input: 2 })).status).toBe(200);
});

test.each<[string, (ask: Ask) => Promise<Asked>, object, number]>([
  ["a change", (ask) => ask("PUT", "/schedules/nightly", { input: 2 }), { run_as: "off" }, 409],
  ["a resume", (ask) => ask("POST", "/schedules/nightly/resume"), { status: "paused" }, 409],
  [
    "a description",
    (ask) => ask("PUT", "/schedules/nightly", { description: "x" }),
    { run_as: "off" },
    200,
  ],
])(
  "AUTH-45 %s that was allowed for what a schedule ran is not made of what it runs by now",
  async (_, ask, meanwhile, status) => {
    let change: (() => Promise<unknown>) | undefined;
    const t = await scheduled({
      wrap: (store) =>
        interposed(store, ({ name }, call) => {
          if (!call) return undefined;
          return async (...args) => {
            if (name === "schedules.change") await change?.();
            return call(...args);
          };
        }),
    });
    // Between what the caller was allowed and what is written.
    change = async () => {
      change = undefined;
      await t.store.schedules.change("nightly", () => meanwhile);
    };
    const answer = await ask(t.trusted);
    expect([answer.status, answer.body.error?.code]).toEqual([
      status,
      status === 409 ? "conflict" : undefined,
    ]);
    expect(await t.nightly()).toMatchObject({ ...meanwhile, input: { n: 1 } });
  },
);

test.each<[string, (ask: Ask) => Promise<unknown>, string]>([
  ["disabled", (ask) => ask("POST", "/admin/principals/bot/disable"), "principal_disabled"],
  ["banned", (ask) => ask("POST", "/admin/principals/bot/ban"), "principal_banned"],
  ["deleted", (ask) => ask("DELETE", "/admin/principals/bot?force=true"), "principal_not_found"],
])("AUTH-48 AUTH-22 an account that is %s starts nothing from the next fire on", async (...row) => {
  const [, lose, code] = row;
  const { admin, time, nightly, runs } = await scheduled();
  await admin("PUT", "/schedules/nightly", { overlap: "allow" });
  await time.advance(MINUTE);
  expect(await runs()).toHaveLength(1);
  await lose(admin);
  await time.advance(MINUTE);
  expect((await nightly()).last_error).toContain(code);
  expect(await runs()).toHaveLength(1);
});

test("AUTH-48 the account's right to run the workflow is asked for at each fire, of the version that runs", async () => {
  const { admin, time, nightly, runs } = await scheduled();
  await admin("POST", "/admin/roles", { name: "payer", permissions: [RUN, CHARGE] });
  await admin("PUT", "/schedules/nightly", { overlap: "allow" });
  await admin("POST", "/admin/principals/bot/roles", { role: "payer" });
  await admin("DELETE", "/admin/principals/bot/roles/operator");
  await time.advance(MINUTE);
  expect(await runs()).toHaveLength(1);
  await admin("POST", "/workflows", { source: WIDER });
  await time.advance(MINUTE);
  expect((await nightly()).last_error).toBe(`principal_not_permitted: bot lacks ${CHECK}`);
  expect(await runs()).toHaveLength(1);
  await admin("POST", "/admin/principals/bot/roles", { role: "operator" });
  await time.advance(MINUTE);
  expect((await runs()).length).toBeGreaterThan(1);
});

test("AUTH-48 rights are read from the store at each fire, also where no server heard of their change", async () => {
  const { store, time, nightly, runs, admin } = await scheduled();
  await admin("PUT", "/schedules/nightly", { overlap: "allow" });
  await time.advance(MINUTE);
  const bot = await store.identities.findBySubject("bot", "engine");
  await store.principals.change(bot?.id ?? "", () => ({ enabled: false }), changeByNobody());
  await time.advance(MINUTE);
  expect((await nightly()).last_error).toContain("principal_disabled");
  expect(await runs()).toHaveLength(1);
});

test("AUTH-48 revoking the grant stops later configuration, not firing", async () => {
  const { admin, trusted, create, time, runs } = await scheduled();
  await admin("DELETE", "/schedules/nightly");
  expect((await create(trusted, { overlap: "allow" })).status).toBe(201);
  await admin("DELETE", "/admin/principals/trusted/roles/trusted");
  expect((await trusted("PUT", "/schedules/nightly", { input: 2 })).status).toBe(403);
  await admin("POST", "/admin/principals/trusted/disable");
  await time.advance(2 * MINUTE);
  expect(await runs()).toHaveLength(2);
});

test("EXE-76 AUTH-45 AUTH-47 registering takes the grant where it makes or changes a declared schedule, and only there", async () => {
  const t = await scheduled();
  await t.admin("POST", "/admin/roles", { name: "author", permissions: ["workflow:*:*:register"] });
  const roles = (name: string) => accountOf(t.admin, name, ["author", "manager"]);
  const author = asking(t, await roles("author"));
  const naming = asking(t, await roles("naming"));
  await t.admin("POST", "/admin/principals/naming/roles", { role: "trusted" });
  const declared = (runAs: string, expression = "0 2 * * *", body = "input") =>
    `import { cron, workflow } from "@engine/sdk";
export const night = workflow(
  { name: "night", schedule: cron("${expression}", { runAs: "${runAs}" }) },
  async (input) => ${body},
);
`;
  const register = (ask: Ask, source: string) => ask("POST", "/workflows", { source });
  const found = async () => (await t.admin("GET", "/schedules/default.night")).body;
  for (const kind of KINDS) {
    expect(refusalOf(await register(author, declared(kind))).details).toEqual({
      missing_permissions: [`principal:${kind}:impersonate`],
    });
  }
  for (const [kind, refused] of Object.entries(REFUSED)) {
    const night = { missing_permissions: ["workflow:default:night:run"] };
    const isPoor = kind === "poor" || kind === "half";
    expect(refusalOf(await register(naming, declared(kind)))).toEqual(
      isPoor ? { ...refused, details: { principal: kind, ...night } } : refused,
    );
  }
  expect((await t.admin("GET", "/workflows/default/night")).status).toBe(404);
  expect((await register(naming, declared("bot"))).status).toBe(201);
  // Other code with the same schedule, also where its account is gone.
  await t.admin("POST", "/admin/principals/bot/disable");
  expect((await register(author, declared("bot", "0 2 * * *", "[input]"))).status).toBe(201);
  const missing_permissions = ["principal:bot:impersonate"];
  expect(refusalOf(await register(author, declared("bot", "0 3 * * *"))).details).toEqual({
    missing_permissions,
  });
  expect((await register(naming, declared("bot", "0 3 * * *"))).body.error).toMatchObject({
    code: "principal_disabled",
  });
  expect(await found()).toMatchObject({ run_as: "bot", spec: { expression: "0 2 * * *" } });
  // One that is no more needs nothing.
  expect((await register(author, SOURCE.replace('"pay"', '"night"'))).status).toBe(201);
  expect((await t.admin("GET", "/schedules/default.night")).status).toBe(404);
});

test("AUTH-34 AUTH-48 executions of a schedule are its account's, whoever triggers them", async () => {
  const { admin, trusted, time, runs } = await scheduled();
  const bot = { subject: "bot", issuer: "engine", type: "service_account" };
  const triggered = await trusted("POST", "/schedules/nightly/trigger");
  expect(triggered.body).toMatchObject({ started_by: bot, run_as: bot });
  await admin("PUT", "/schedules/nightly", { overlap: "allow" });
  await time.advance(MINUTE);
  for (const { execution_id } of await runs()) {
    const { body } = await admin("GET", `/executions/${execution_id}`);
    expect(body).toMatchObject({ started_by: bot, run_as: bot });
  }
});

test("AUD-2 AUTH-45 the use of an account is in the audit log, that of none is not", async () => {
  const { admin, trusted } = await scheduled();
  await trusted("PUT", "/schedules/nightly", { input: 2 });
  await trusted("PUT", "/schedules/nightly", { description: "x" });
  await trusted("POST", "/schedules/nightly/trigger");
  await trusted("POST", "/schedules/nightly/pause");
  await trusted("POST", "/schedules/nightly/resume");
  const { items } = (await admin("GET", "/admin/audit?actor=trusted")).body;
  const rows = items.map((row: { action: string; permissions: string[] }) => [
    row.action,
    ...row.permissions,
  ]);
  const asBot = "principal:bot:impersonate";
  expect(rows).toEqual([
    ["schedules.resume", asBot],
    ["schedules.pause"],
    ["schedules.trigger", asBot],
    ["schedules.update"],
    ["schedules.update", asBot],
  ]);
});

test("AUTH-2 AUTH-47 with authorization off accounts are stored as given, and fire under nobody", async () => {
  const { time, admin, create, runs } = await scheduled({ auth: { enabled: false } });
  expect((await create(admin, { name: "other", run_as: "gone" })).status).toBe(201);
  const moved = await admin("PUT", "/schedules/nightly", { run_as: "no such:account" });
  expect(moved.body).toMatchObject({ run_as: "no such:account" });
  expect((await admin("POST", "/schedules/nightly/trigger")).status).toBe(202);
  await admin("PUT", "/schedules/nightly", { overlap: "allow" });
  await time.advance(MINUTE);
  const [fired, triggered] = await runs();
  for (const run of [fired, triggered]) {
    const { body } = await admin("GET", `/executions/${run?.execution_id}`);
    expect(body).toMatchObject({ started_by: null, run_as: null });
  }
});
