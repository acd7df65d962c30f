/** Every route, asked by a caller whose rights end at one namespace. */
import { Config, type ErrorBody, type Json, type Route, rightsOf, routes } from "@engine/contract";
import { openSqliteStore } from "@engine/store";
import { expect, test, vi } from "vitest";
import { type Server, startServer } from "../server.ts";

import { ALLOWED, NOBODY } from "../testing/nobody.ts";
import { ScriptedWorker } from "../testing/scripted-worker.ts";
import { silent } from "../testing/start-engine.ts";

vi.setConfig({ testTimeout: 60_000 });

const GRANTS = [
  "execution:*:read",
  "workflow:shop:*:read",
  "workflow:shop:*:run",
  "workflow:shop:*:register",
  "schedule:*:read",
  "schedule:shop:manage",
  "worker:shop:read",
  "hook:shop:*",
  "principal:shop:impersonate",
  "service:shop:*",
  "secret:shop:manage",
  "config:shop:*",
];

/** What a request names: the workflow `pay` of a namespace, and what belongs to it. */
interface Place {
  readonly ns: string;
  readonly id: string;
}

interface Case {
  /** Below the address of the server. */
  readonly path: (place: Place) => string;
  readonly body?: (place: Place) => Json;
  readonly headers?: Readonly<Record<string, string>>;
  /** What a request for `shop` is answered with. */
  readonly own: number;
  /** What is missing for one for `bank`, or the status where it is not refused. */
  readonly other: readonly string[] | number;
}

const KEY = Buffer.alloc(32, 1).toString("base64");
const RUN = ["workflow:bank:pay:run"];
const READ = ["workflow:bank:pay:read"];
const REGISTER = ["workflow:bank:pay:register"];
const SERVICE = ["service:bank:manage"];
const ADMIN = ["admin:workers:manage"];
const below = (rest: string) => ({
  path: ({ ns, id }: Place) => `/workflows/${ns}/pay/${rest}${id}`,
});
const ofExecution = (rest: string) => ({ path: ({ id }: Place) => `/executions/${id}${rest}` });
const ofSchedule = (rest: string) => ({ path: ({ ns }: Place) => `/schedules/${ns}${rest}` });
const ofHook = (rest: string) => ({ path: ({ ns }: Place) => `/hooks/${ns}${rest}` });
const ofService = (rest: string) => ({
  path: ({ ns, id }: Place) => `/services/${ns}${rest.replace("{id}", id)}`,
});
const directed = (rest: string) => ({
  path: ({ ns }: Place) => `/admin/workers/${ns}${rest}`,
  own: 403,
  other: ADMIN,
});
const described = (rest: string) => ({
  path: ({ ns }: Place) => `/admin/workers/${ns}${rest}`,
  own: 200,
  other: [...ADMIN, "worker:bank:read"],
});
const limited = { path: ({ ns }: Place) => `/admin/limits/${ns}`, own: 403, other: ADMIN };
/** What only administrators do, whatever it names. */
const administered = (permission: string, path: string, body?: Json): Case => ({
  path: () => path,
  ...(body !== undefined && { body: () => body }),
  own: 403,
  other: [permission],
});
const READ_ROLES = "admin:roles:read";
const MANAGE_ROLES = "admin:roles:manage";
const READ_PRINCIPALS = "admin:principals:read";
const MANAGE_PRINCIPALS = "admin:principals:manage";
const ADA = "/admin/principals/ada";
const source = (ns: string) =>
  `import { workflow } from "@engine/sdk";
export const pay = workflow({ name: "pay", namespace: "${ns}" }, async (input) => input);
`;
const spec = { type: "cron", expression: "0 2 * * *" };
/** A row for the sessions of workers, which have no grants: whose session it is they say themselves. */
const ofWorker = { path: () => "", own: 0, other: 0 };

const cases: { readonly [G in keyof typeof routes]: Record<keyof (typeof routes)[G], Case> } = {
  system: {
    health: { path: () => "/health", own: 200, other: 200 },
    ready: { path: () => "/ready", own: 200, other: 200 },
    openapi: { path: () => "/openapi.json", own: 200, other: 200 },
  },
  auth: {
    config: { path: () => "/auth/config", own: 200, other: 200 },
    whoami: { path: () => "/auth/whoami", own: 200, other: 200 },
    permissions: {
      path: ({ ns }) => `/auth/permissions?workflow=${ns}/pay`,
      own: 200,
      other: READ,
    },
    check: { path: () => "/auth/check", body: () => ({ permissions: [] }), own: 200, other: 200 },
    testToken: {
      path: () => "/auth/test-token",
      body: () => ({ token: "x" }),
      own: 403,
      other: ["admin:principals:read"],
    },
  },
  catalog: {
    register: {
      path: () => "/workflows",
      body: ({ ns }) => ({ source: source(ns) }),
      own: 200,
      other: ["workflow:bank:*:register"],
    },
    list: { path: () => "/workflows", own: 200, other: 200 },
    namespaces: { path: () => "/namespaces", own: 200, other: 200 },
    get: { ...below(""), path: ({ ns }) => `/workflows/${ns}/pay`, own: 200, other: READ },
    versions: { path: ({ ns }) => `/workflows/${ns}/pay/versions`, own: 200, other: READ },
    version: { path: ({ ns }) => `/workflows/${ns}/pay/versions/1`, own: 200, other: READ },
    placement: {
      path: ({ ns }) => `/workflows/${ns}/pay/placement`,
      body: () => ({}),
      own: 403,
      other: 403,
    },
    delete: { path: ({ ns }) => `/workflows/${ns}/pay?version=9`, own: 404, other: REGISTER },
  },
  executions: {
    run: { path: ({ ns }) => `/workflows/${ns}/pay/run/async`, own: 202, other: RUN },
    runDefault: {
      path: () => "/workflows/pay/run/async",
      own: 403,
      other: ["workflow:default:pay:run"],
    },
    resume: { ...below("resume/"), own: 409, other: RUN },
    resumeMode: {
      path: ({ ns, id }) => `/workflows/${ns}/pay/resume/${id}/async`,
      own: 409,
      other: RUN,
    },
    status: { ...below("status/"), own: 200, other: [...READ, ...RUN] },
    listOfWorkflow: { path: ({ ns }) => `/workflows/${ns}/pay/executions`, own: 200, other: 200 },
    list: { path: () => "/executions", own: 200, other: 200 },
    get: { ...ofExecution(""), own: 200, other: READ },
    events: { ...ofExecution("/events"), own: 200, other: READ },
    setPrincipal: {
      ...ofExecution("/principal"),
      body: () => ({ subject: "nobody" }),
      own: 403,
      other: [...RUN, "principal:nobody:impersonate"],
    },
    takeOver: {
      path: () => "/executions/take-over",
      body: () => ({ subject: "nobody" }),
      own: 403,
      other: 403,
    },
    rename: { ...ofExecution("/name"), body: () => ({ name: "x" }), own: 200, other: RUN },
    eventValue: { ...ofExecution("/events/1/value"), own: 200, other: READ },
    history: { ...ofExecution("/history"), own: 200, other: READ },
    why: { ...ofExecution("/why"), own: 200, other: READ },
    signal: { ...ofExecution("/signals/go"), body: () => 1, own: 202, other: RUN },
    fork: { ...ofExecution("/fork"), own: 201, other: [...RUN, ...READ] },
    cancel: { ...below("cancel/"), own: 202, other: RUN },
    cancelLink: { ...below("cancel/"), own: 409, other: RUN },
  },
  services: {
    create: {
      path: () => "/services",
      body: ({ ns }) => ({ name: ns }),
      own: 409,
      other: SERVICE,
    },
    list: { path: () => "/services", own: 200, other: 200 },
    get: { ...ofService(""), own: 200, other: ["service:bank:read"] },
    openapi: { ...ofService("/openapi.json"), own: 200, other: ["service:bank:read"] },
    tools: { ...ofService("/mcp/tools"), own: 200, other: ["service:bank:read"] },
    mcp: { ...ofService("/mcp"), body: () => ({}), own: 400, other: ["service:bank:read"] },
    metadata: {
      path: ({ ns }) => `/.well-known/oauth-protected-resource/services/${ns}/mcp`,
      own: 404,
      other: 404,
    },
    update: { ...ofService(""), body: () => ({ mcp_enabled: true }), own: 200, other: SERVICE },
    run: { ...ofService("/pay?timeout=0.01"), own: 202, other: RUN },
    runMode: { ...ofService("/pay/async"), own: 202, other: RUN },
    resume: { ...ofService("/pay/resume/{id}"), own: 409, other: RUN },
    resumeMode: { ...ofService("/pay/resume/{id}/async"), own: 409, other: RUN },
    status: { ...ofService("/pay/status/{id}"), own: 200, other: [...READ, ...RUN] },
    stream: { ...ofService("/pay/stream/{id}"), own: 200, other: [...READ, ...RUN] },
    delete: { ...ofService(""), own: 204, other: SERVICE },
  },
  schedules: {
    create: {
      path: () => "/schedules",
      body: ({ ns }) => ({ name: "shop", namespace: ns, workflow: "pay", spec }),
      own: 409,
      other: RUN,
    },
    list: { path: () => "/schedules", own: 200, other: 200 },
    get: { ...ofSchedule(""), own: 200, other: READ },
    update: {
      ...ofSchedule(""),
      body: () => ({ description: "x" }),
      own: 200,
      other: ["schedule:bank:manage"],
    },
    pause: { ...ofSchedule("/pause"), own: 200, other: ["schedule:bank:manage"] },
    resume: { ...ofSchedule("/resume"), own: 200, other: ["schedule:bank:manage"] },
    trigger: { ...ofSchedule("/trigger"), own: 202, other: ["schedule:bank:manage"] },
    history: { ...ofSchedule("/history"), own: 200, other: READ },
    delete: { ...ofSchedule(""), own: 204, other: ["schedule:bank:manage"] },
  },
  hooks: {
    // A hook may hear of every namespace, and so may who makes or reads it.
    create: administered("hook:*:create", "/hooks", {}),
    list: administered("hook:*:read", "/hooks"),
    get: { ...ofHook(""), own: 200, other: ["hook:bank:read"] },
    update: {
      ...ofHook(""),
      body: () => ({ max_attempts: 2 }),
      own: 200,
      other: ["hook:bank:update"],
    },
    test: { ...ofHook("/test"), own: 202, other: ["hook:bank:update"] },
    deliveries: administered("hook:deliveries:read", "/hooks/shop/deliveries"),
    delivery: administered("hook:deliveries:read", "/hooks/shop/deliveries/x"),
    retry: administered("hook:deliveries:retry", "/hooks/shop/deliveries/x/retry"),
    retryMany: administered("hook:deliveries:retry", "/hooks/shop/deliveries/retry"),
    delete: { ...ofHook(""), own: 204, other: ["hook:bank:delete"] },
  },
  fleet: {
    list: { path: () => "/workers", own: 200, other: 200 },
    show: { path: ({ ns }) => `/workers/${ns}`, own: 200, other: ["worker:bank:read"] },
    pause: directed("/pause"),
    resume: directed("/resume"),
    drain: directed("/drain"),
    delete: directed(""),
  },
  workerAttributes: {
    putMetadata: { ...directed("/metadata"), body: () => ({ metadata: {} }) },
    getMetadata: described("/metadata"),
    clearMetadata: directed("/metadata"),
    removeMetadata: directed("/metadata/n"),
    listServices: described("/services"),
    grantService: directed("/services/inference"),
    revokeService: directed("/services/inference"),
  },
  limits: {
    put: { ...limited, body: () => ({ concurrency: 1 }) },
    list: { path: () => "/admin/limits", own: 403, other: [...ADMIN, "worker:*:read"] },
    get: { ...limited, other: [...ADMIN, "worker:*:read"] },
    delete: limited,
  },
  joinTokens: {
    create: { path: () => "/admin/workers/join-tokens", body: () => ({}), own: 403, other: ADMIN },
    list: { path: () => "/admin/workers/join-tokens", own: 403, other: ADMIN },
    revoke: { path: () => "/admin/workers/join-tokens/x", own: 403, other: ADMIN },
    revokeFor: {
      path: ({ ns }) => `/admin/workers/join-tokens?subject=${ns}`,
      own: 403,
      other: ADMIN,
    },
  },
  workers: {
    register: ofWorker,
    credential: ofWorker,
    connect: ofWorker,
    poll: ofWorker,
    heartbeat: ofWorker,
    checkpoint: ofWorker,
    checkpoints: ofWorker,
    checkpointLines: ofWorker,
    release: ofWorker,
    progress: ofWorker,
    module: ofWorker,
    events: ofWorker,
    saveValue: ofWorker,
    loadValue: ofWorker,
    cacheLookup: ofWorker,
    cacheKeep: ofWorker,
    executionToken: ofWorker,
    secrets: ofWorker,
    configs: ofWorker,
    disconnect: ofWorker,
  },
  roles: {
    list: administered(READ_ROLES, "/admin/roles"),
    get: administered(READ_ROLES, "/admin/roles/viewer"),
    create: administered(MANAGE_ROLES, "/admin/roles", { name: "all", permissions: ["*"] }),
    clone: administered(MANAGE_ROLES, "/admin/roles/admin/clone", { new_name: "all" }),
    update: administered(MANAGE_ROLES, "/admin/roles/all", { permissions: ["*"] }),
    delete: administered(MANAGE_ROLES, "/admin/roles/all"),
  },
  principals: {
    list: administered(READ_PRINCIPALS, "/admin/principals"),
    get: administered(READ_PRINCIPALS, ADA),
    create: administered(MANAGE_PRINCIPALS, "/admin/principals", { subject: "ada", type: "user" }),
    update: administered(MANAGE_PRINCIPALS, ADA, { enabled: true }),
    enable: administered(MANAGE_PRINCIPALS, `${ADA}/enable`),
    disable: administered(MANAGE_PRINCIPALS, `${ADA}/disable`),
    ban: administered(MANAGE_PRINCIPALS, `${ADA}/ban`),
    unban: administered(MANAGE_PRINCIPALS, `${ADA}/unban`),
    delete: administered(MANAGE_PRINCIPALS, ADA),
    grantRole: administered(MANAGE_PRINCIPALS, `${ADA}/roles`, { role: "admin" }),
    revokeRole: administered(MANAGE_PRINCIPALS, `${ADA}/roles/admin`),
    createKey: administered(MANAGE_PRINCIPALS, `${ADA}/keys`, { name: "ci" }),
    listKeys: administered(READ_PRINCIPALS, `${ADA}/keys`),
    revokeKey: administered(MANAGE_PRINCIPALS, `${ADA}/keys/ci`),
  },
  secrets: {
    put: {
      path: ({ ns }) => `/admin/secrets/${ns}`,
      body: () => ({ value: "long enough" }),
      own: 200,
      other: ["secret:bank:manage"],
    },
    list: { path: () => "/admin/secrets", own: 200, other: 200 },
    get: { path: ({ ns }) => `/admin/secrets/${ns}`, own: 403, other: ["secret:bank:read"] },
    delete: {
      path: ({ ns }) => `/admin/secrets/${ns}`,
      own: 204,
      other: ["secret:bank:manage"],
    },
  },
  configs: {
    put: {
      path: ({ ns }) => `/admin/configs/${ns}`,
      body: () => ({ value: 1 }),
      own: 200,
      other: ["config:bank:manage"],
    },
    list: { path: () => "/admin/configs", own: 200, other: 200 },
    get: { path: ({ ns }) => `/admin/configs/${ns}`, own: 200, other: ["config:bank:read"] },
    delete: {
      path: ({ ns }) => `/admin/configs/${ns}`,
      own: 204,
      other: ["config:bank:manage"],
    },
  },
  encryption: {
    status: administered("admin:encryption:manage", "/admin/encryption"),
    rotate: administered("admin:encryption:manage", "/admin/encryption/rotate"),
  },
  audit: {
    list: administered("admin:audit:read", "/admin/audit"),
  },
  basic: {
    run: { path: ({ ns }) => `/pay?namespace=${ns}&timeout=0.01`, own: 202, other: RUN },
    resume: { path: ({ ns, id }) => `/pay/${id}?namespace=${ns}`, own: 409, other: RUN },
    inspect: { path: ({ id }) => `/inspect/${id}`, own: 200, other: READ },
  },
};

const rows = Object.entries(cases).flatMap(([group, some]) =>
  Object.entries<Case>(some)
    .filter(([, one]) => one !== ofWorker)
    .map(([name, one]) => {
      const route = (routes as Record<string, Record<string, Route>>)[group]?.[name] as Route;
      return { name: `${group}.${name}`, route, one };
    }),
);

/** A server that is asked by somebody with rights of the namespace shop, and two places in it. */
class Guarded implements AsyncDisposable {
  readonly #server: Server;
  readonly #end: () => Promise<void>;
  readonly shop: Place;
  readonly bank: Place;

  private constructor(parts: {
    server: Server;
    end: () => Promise<void>;
    shop: Place;
    bank: Place;
  }) {
    this.#server = parts.server;
    this.#end = parts.end;
    this.shop = parts.shop;
    this.bank = parts.bank;
  }

  static async start(grants: readonly string[] = GRANTS): Promise<Guarded> {
    const clock = Date.now;
    const store = await openSqliteStore({ path: ":memory:", synchronous: "normal", clock });
    const server = await startServer({
      config: Config.parse({ server: { port: 0 }, security: { encryption: { key: KEY } } }),
      store,
      log: silent,
      version: "0",
      authorize: () => ({ principal: "ada", rights: rightsOf(grants) }),
    });
    const end = async () => {
      await server.close();
      await store.close();
    };
    const [shop, bank] = [await furnished(server, "shop"), await furnished(server, "bank")];
    return new Guarded({ server, end, shop, bank });
  }

  async ask(route: Route, one: Case, place: Place): Promise<{ status: number; body: ErrorBody }> {
    const body = one.body?.(place);
    const response = await fetch(this.#server.url + one.path(place), {
      method: route.method,
      ...(body !== undefined && {
        body: JSON.stringify(body),
        headers: { "content-type": "application/json" },
      }),
    });
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.includes("json") ?? false;
    return { status: response.status, body: isJson && text ? JSON.parse(text) : undefined };
  }

  async get<Body>(path: string): Promise<Body> {
    const response = await fetch(this.#server.url + path);
    return (await response.json()) as Body;
  }

  /** What stands in the store, also what the caller may not see. */
  async contents(): Promise<unknown> {
    const { executions, catalog, schedules, hooks, services, secrets, configs } =
      this.#server.engine;
    const page = { limit: 100, offset: 0 };
    return Promise.all([
      executions.list({ ...page, order: "created_asc" }),
      catalog.list(page),
      schedules.list(page),
      hooks.list(page),
      services.list(page),
      secrets.list(page),
      configs.list(page),
    ]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end();
  }
}

/**
 * A workflow with one execution that nobody runs, a schedule and a hook of it, a service that offers it, a worker,
 * a secret and a configuration value, all of one name.
 */
async function furnished({ engine, workers }: Server, ns: string): Promise<Place> {
  await engine.catalog.register({ source: source(ns) }, { by: null });
  const start = { namespace: ns, workflow: "pay", input: 1, trigger: { kind: "api" }, by: null };
  const { row } = await engine.executions.start(start as never);
  const cron = { type: "cron", expression: "0 2 * * *", timezone: "UTC" } as const;
  await engine.schedules.create({
    ...{ name: ns, namespace: ns, workflow: "pay", version: null, description: null, spec: cron },
    ...{ overlap: "skip", catch_up: "one", input: null, routing_input: {}, run_as: null },
  });
  await engine.hooks.create(
    {
      ...{ name: ns, workflow: `${ns}/pay`, principal: ns, max_attempts: 5, enabled: true },
      selectors: [`execution:${ns}:*:failed`],
    },
    ALLOWED,
  );
  const choice = { namespaces: [ns], workflows: [], exclusions: [], mcp_enabled: true };
  await engine.services.create({ name: ns, ...choice }, NOBODY);
  await engine.secrets.put(ns, { value: "long enough", unmasked: false }, NOBODY);
  await engine.configs.put(ns, { value: 1 }, NOBODY);
  await new ScriptedWorker(ns, workers, Date.now).register();
  return { ns, id: row.execution_id };
}

test("AUTH-6 AUTH-7 a caller of one namespace is refused on every route of another, and nothing changes", async () => {
  await using guarded = await Guarded.start();
  const before = await guarded.contents();
  for (const { name, route, one } of rows) {
    const { status, body } = await guarded.ask(route, one, guarded.bank);
    if (typeof one.other === "number") {
      expect([name, status]).toEqual([name, one.other]);
      continue;
    }
    expect([name, status, body.error.details]).toEqual([
      name,
      403,
      { missing_permissions: one.other },
    ]);
  }
  expect(await guarded.contents()).toEqual(before);
});

test("AUTH-59 the same caller is answered on every route of the namespace that the rights are for", async () => {
  await using guarded = await Guarded.start();
  for (const { name, route, one } of rows) {
    const { status } = await guarded.ask(route, one, guarded.shop);
    expect([name, status]).toEqual([name, one.own]);
  }
});

test("AUTH-6 what a made-up name is refused with tells nothing about what exists", async () => {
  await using guarded = await Guarded.start();
  for (const path of [
    "/workflows/bank/none",
    "/workers/none",
    "/workflows/bank/none/cancel/none",
  ]) {
    expect([path, (await guarded.get<ErrorBody>(path)).error.code]).toEqual([
      path,
      "permission_denied",
    ]);
  }
});

test("AUTH-33 lists know only what may be seen, with a total of that", async () => {
  await using guarded = await Guarded.start();
  type List = { items: Record<string, unknown>[]; total: number };
  const list = async (path: string, key: string) => {
    const { items, total } = await guarded.get<List>(path);
    return [items.map((item) => item[key]), total];
  };
  expect(await list("/workflows", "namespace")).toEqual([["shop"], 1]);
  expect(await list("/namespaces", "namespace")).toEqual([["shop"], 1]);
  expect(await list("/executions", "namespace")).toEqual([["shop"], 1]);
  expect(await list("/executions?namespace=bank", "namespace")).toEqual([[], 0]);
  expect(await list("/workflows/bank/pay/executions", "namespace")).toEqual([[], 0]);
  expect(await list("/schedules", "name")).toEqual([["shop"], 1]);
  expect(await list("/workers", "name")).toEqual([["shop"], 1]);
  expect(await list("/admin/secrets", "name")).toEqual([["shop"], 1]);
  expect(await list("/admin/configs", "name")).toEqual([["shop"], 1]);
});

test("AUTH-33 a caller whose rights overlap nothing of a list is refused with the form that would do", async () => {
  await using guarded = await Guarded.start(["execution:*:read"]);
  for (const [path, ...missing] of [
    ["/workflows", "workflow:*:*:read"],
    ["/namespaces", "workflow:*:*:read"],
    ["/executions", "workflow:*:*:read"],
    ["/schedules", "schedule:*:read", "workflow:*:*:read"],
    ["/workers", "worker:*:read"],
    ["/admin/secrets", "secret:*:read", "secret:*:manage", "secret:*:use"],
    ["/admin/configs", "config:*:read"],
  ] as const) {
    const { error } = await guarded.get<ErrorBody>(path);
    expect([path, error.details]).toEqual([path, { missing_permissions: missing }]);
  }
});

test("one who holds everything is asked nothing more than before", async () => {
  await using guarded = await Guarded.start(["*"]);
  const { total } = await guarded.get<{ total: number }>("/executions");
  expect(total).toBe(2);
});
