/** Every route, asked with every kind of credential: who is let in, and what a refusal names. */
import { type Json, type Route, routes } from "@engine/contract";
import { expect, test, vi } from "vitest";
import {
  type CallerName,
  type Expected,
  Guarded,
  type Place,
  type Row,
  source,
  spec,
} from "./testing/permission-callers.ts";

vi.setConfig({ testTimeout: 60_000 });

const NOBODY = {
  none: [401, "missing"],
  expired: [401, "expired"],
  unknown: [401, "invalid"],
  misdirected: [401, "invalid"],
} as const;
const KIND = [403, "credential_kind"] as const;
const SCOPE = [403, "execution_token_scope"] as const;
/** Takes the credentials of callers, those of workers never, those of tasks as far as they reach. */
const CALLERS = { ...NOBODY, worker: KIND, task: SCOPE } as const;
const OPEN = {
  none: 200,
  expired: 200,
  unknown: 200,
  misdirected: 200,
  worker: 200,
  task: 200,
  viewer: 200,
  operator: 200,
  admin: 200,
};
const ANYONE = { ...CALLERS, viewer: 200, operator: 200, admin: 200 };
/** Takes the credential of the named worker, and of nobody else. */
const OF_WORKER = {
  ...NOBODY,
  viewer: KIND,
  operator: KIND,
  worker: KIND,
  task: SCOPE,
  admin: KIND,
} as const;

const RUN = "workflow:viewer:pay:run";
const CHARGE = "workflow:viewer:pay:task:charge:execute";
const MANAGE = "schedule:viewer:manage";
const AS_BOT = "principal:bot:impersonate";

const GENERATION = "generation=1";
const DIGEST = "0".repeat(64);
const workflow = (rest: string) => ({ path: ({ ns }: Place) => `/workflows/${ns}/pay${rest}` });
const ofWorkflow = (rest: string) => ({
  path: ({ ns, id }: Place) => `/workflows/${ns}/pay/${rest.replace("{id}", id)}`,
});
const execution = (rest: string) => ({ path: ({ id }: Place) => `/executions/${id}${rest}` });
const hook = (rest = "") => ({ path: ({ ns }: Place) => `/hooks/${ns}${rest}` });
const UPDATE_HOOK = "hook:viewer:update";
const RETRY = "hook:deliveries:retry";
const schedule = (rest = "") => ({ path: ({ ns }: Place) => `/schedules/${ns}${rest}` });
const own = (rest: string): Row => ({
  path: ({ ns, id }) => `/workers/${ns}/${rest.replace("{id}", id)}`,
  ...OF_WORKER,
});
const sends = (body: Json) => ({ body: () => body });
/** Reads that viewers and operators are for. */
const READERS = { ...CALLERS, viewer: 200, operator: 200, admin: 200 };
/** What of the engine's own roles only admin may do. */
const administered = (
  permission: string,
  path: string | ((place: Place) => string),
  admin: number,
  body?: Json | ((place: Place) => Json),
): Row => ({
  path: typeof path === "string" ? () => path : path,
  ...(body !== undefined && { body: typeof body === "function" ? body : () => body }),
  ...CALLERS,
  viewer: [403, permission],
  operator: [403, permission],
  admin,
});
const service = (rest: string) => ({
  path: ({ ns, id }: Place) => `/services/${ns}${rest.replace("{id}", id)}`,
});
const SERVICE_MANAGERS = {
  viewer: [403, "service:viewer:manage"],
  operator: 200,
  admin: 200,
} as const;
const RUNNERS = { viewer: [403, RUN, CHARGE], operator: 202, admin: 202 } as const;
const ADMIN_WORKERS = "admin:workers:manage";
const described = (rest: string) => (place: Place) => `/admin/workers/${place.ns}${rest}`;
const limit = () => "/admin/limits/openai";
const READ_ROLES = "admin:roles:read";
const MANAGE_ROLES = "admin:roles:manage";
const READ_PRINCIPALS = "admin:principals:read";
const MANAGE_PRINCIPALS = "admin:principals:manage";
const role =
  (rest = "") =>
  (place: Place) =>
    `/admin/roles/of-${place.ns}${rest}`;
const ada =
  (rest = "") =>
  (place: Place) =>
    `/admin/principals/ada.${place.ns}${rest}`;

/** Asked in this order, so that what one makes the next ones find. */
const rows: { readonly [G in keyof typeof routes]: Record<keyof (typeof routes)[G], Row> } = {
  system: {
    health: { path: () => "/health", ...OPEN },
    ready: { path: () => "/ready", ...OPEN },
    openapi: { path: () => "/openapi.json", ...ANYONE },
  },
  auth: {
    config: { path: () => "/auth/config", ...OPEN },
    whoami: { path: () => "/auth/whoami", ...ANYONE },
    permissions: { path: ({ ns }) => `/auth/permissions?workflow=${ns}/pay`, ...ANYONE },
    check: { path: () => "/auth/check", ...sends({ permissions: [] }), ...ANYONE },
    testToken: administered(READ_PRINCIPALS, "/auth/test-token", 200, { token: "x" }),
  },
  catalog: {
    register: {
      path: () => "/workflows",
      body: ({ ns }) => ({ source: source(ns) }),
      ...CALLERS,
      viewer: [403, "workflow:viewer:*:register"],
      operator: 200,
      admin: 200,
    },
    list: { path: () => "/workflows", ...READERS },
    namespaces: { path: () => "/namespaces", ...READERS },
    get: { ...workflow(""), ...READERS },
    versions: { ...workflow("/versions"), ...READERS },
    version: { ...workflow("/versions/1"), ...READERS },
    placement: {
      ...workflow("/placement"),
      ...sends({}),
      ...CALLERS,
      viewer: [403, RUN, CHARGE],
      operator: 200,
      admin: 200,
    },
    delete: {
      ...workflow("?version=9"),
      ...CALLERS,
      viewer: [403, "workflow:viewer:pay:register"],
      operator: 404,
      admin: 404,
    },
  },
  executions: {
    run: {
      ...workflow("/run/async"),
      ...CALLERS,
      // As a child of its own.
      task: 202,
      viewer: [403, RUN, CHARGE],
      operator: 202,
      admin: 202,
    },
    runDefault: {
      path: () => "/workflows/pay/run/async",
      ...CALLERS,
      viewer: [403, "workflow:default:pay:run"],
      operator: 404,
      admin: 404,
    },
    resume: {
      ...ofWorkflow("resume/{id}"),
      ...CALLERS,
      viewer: [403, RUN, CHARGE],
      operator: 409,
      admin: 409,
    },
    resumeMode: {
      ...ofWorkflow("resume/{id}/async"),
      ...CALLERS,
      viewer: [403, RUN, CHARGE],
      operator: 409,
      admin: 409,
    },
    status: { ...ofWorkflow("status/{id}"), ...READERS },
    listOfWorkflow: { ...workflow("/executions"), ...READERS },
    list: { path: () => "/executions", ...READERS },
    get: { ...execution(""), ...READERS },
    events: { ...execution("/events"), ...READERS },
    eventValue: { ...execution("/events/1/value"), ...READERS },
    history: { ...execution("/history"), ...READERS },
    why: { ...execution("/why"), ...READERS },
    rename: {
      ...execution("/name"),
      ...sends({ name: "x" }),
      ...CALLERS,
      viewer: [403, RUN],
      operator: 200,
      admin: 200,
    },
    setPrincipal: {
      ...execution("/principal"),
      ...sends({ subject: "bot" }),
      ...CALLERS,
      viewer: [403, RUN, CHARGE, AS_BOT],
      operator: [403, AS_BOT],
      admin: 200,
    },
    takeOver: {
      path: () => "/executions/take-over",
      body: ({ ns }) => ({ subject: "bot", namespace: ns }),
      ...CALLERS,
      // The account is in the body, which is not read for who may run nothing.
      viewer: [403, "workflow:*:*:run"],
      operator: [403, AS_BOT],
      admin: 200,
    },
    signal: {
      ...execution("/signals/go"),
      ...sends(1),
      ...CALLERS,
      viewer: [403, RUN, CHARGE],
      operator: 202,
      admin: 202,
    },
    fork: {
      ...execution("/fork"),
      ...CALLERS,
      viewer: [403, RUN, CHARGE],
      operator: 201,
      admin: 201,
    },
    cancel: {
      ...ofWorkflow("cancel/{id}"),
      ...CALLERS,
      viewer: [403, RUN],
      operator: 202,
      admin: 202,
    },
    cancelLink: {
      ...ofWorkflow("cancel/{id}"),
      ...CALLERS,
      viewer: [403, RUN],
      operator: 409,
      admin: 409,
    },
  },
  services: {
    create: {
      path: () => "/services",
      body: ({ ns }) => ({ name: `of-${ns}` }),
      ...CALLERS,
      viewer: [403, "service:of-viewer:manage"],
      operator: 201,
      admin: 201,
    },
    list: { path: () => "/services", ...READERS },
    get: { ...service(""), ...READERS },
    openapi: { ...service("/openapi.json"), ...READERS },
    tools: { ...service("/mcp/tools"), ...READERS },
    // Who is let in is told by the protocol what it does not speak.
    mcp: {
      ...service("/mcp"),
      ...sends({}),
      ...CALLERS,
      viewer: 400,
      operator: 400,
      admin: 400,
    },
    metadata: {
      path: ({ ns }) => `/.well-known/oauth-protected-resource/services/${ns}/mcp`,
      ...OPEN,
    },
    update: { ...service(""), ...sends({}), ...CALLERS, ...SERVICE_MANAGERS },
    run: { ...service("/pay?timeout=0.01"), ...CALLERS, ...RUNNERS },
    runMode: { ...service("/pay/async"), ...CALLERS, ...RUNNERS },
    // They were cancelled, where the caller could.
    resume: { ...service("/pay/resume/{id}"), ...CALLERS, ...RUNNERS, operator: 409, admin: 409 },
    resumeMode: {
      ...service("/pay/resume/{id}/async"),
      ...CALLERS,
      ...RUNNERS,
      operator: 409,
      admin: 409,
    },
    status: { ...service("/pay/status/{id}"), ...READERS },
    // That of an execution that is there may be open for long.
    stream: {
      ...service("/pay/stream/none"),
      ...CALLERS,
      viewer: 404,
      operator: 404,
      admin: 404,
    },
    delete: { ...service(""), ...CALLERS, ...SERVICE_MANAGERS, operator: 204, admin: 204 },
  },
  schedules: {
    create: {
      path: () => "/schedules",
      body: ({ ns }) => ({ name: ns, namespace: ns, workflow: "pay", spec, run_as: "bot" }),
      ...CALLERS,
      viewer: [403, MANAGE, RUN, CHARGE, AS_BOT],
      operator: [403, AS_BOT],
      admin: 409,
    },
    list: { path: () => "/schedules", ...READERS },
    get: { ...schedule(), ...READERS },
    history: { ...schedule("/history"), ...READERS },
    update: {
      ...schedule(),
      ...sends({ description: "x", run_as: "bot" }),
      ...CALLERS,
      viewer: [403, MANAGE],
      operator: 200,
      admin: 200,
    },
    trigger: {
      ...schedule("/trigger"),
      ...CALLERS,
      viewer: [403, MANAGE],
      operator: [403, AS_BOT],
      admin: 202,
    },
    pause: {
      ...schedule("/pause"),
      ...CALLERS,
      viewer: [403, MANAGE],
      operator: 200,
      admin: 200,
    },
    resume: {
      ...schedule("/resume"),
      ...CALLERS,
      viewer: [403, MANAGE],
      operator: [403, AS_BOT],
      admin: 200,
    },
    delete: {
      ...schedule(),
      ...CALLERS,
      viewer: [403, MANAGE],
      operator: 204,
      admin: 204,
    },
  },
  hooks: {
    create: {
      path: () => "/hooks",
      body: ({ ns }) => ({
        ...{ name: ns, workflow: `${ns}/pay`, principal: "bot" },
        selectors: ["execution:*"],
      }),
      ...CALLERS,
      viewer: [403, "hook:*:create"],
      operator: [403, AS_BOT],
      admin: 409,
    },
    list: { path: () => "/hooks", ...READERS },
    get: { ...hook(), ...READERS },
    update: {
      ...hook(),
      ...sends({ max_attempts: 3, principal: "bot" }),
      ...CALLERS,
      viewer: [403, UPDATE_HOOK],
      operator: 200,
      admin: 200,
    },
    test: {
      ...hook("/test"),
      ...CALLERS,
      viewer: [403, UPDATE_HOOK],
      operator: [403, AS_BOT],
      admin: 202,
    },
    deliveries: { ...hook("/deliveries"), ...READERS },
    delivery: {
      ...hook("/deliveries/none"),
      ...CALLERS,
      viewer: 404,
      operator: 404,
      admin: 404,
    },
    retry: {
      ...hook("/deliveries/none/retry"),
      ...CALLERS,
      viewer: [403, RETRY],
      operator: [403, AS_BOT],
      admin: 404,
    },
    retryMany: {
      ...hook("/deliveries/retry"),
      ...CALLERS,
      viewer: [403, RETRY],
      operator: [403, AS_BOT],
      admin: 200,
    },
    delete: {
      ...hook(),
      ...CALLERS,
      viewer: [403, "hook:viewer:delete"],
      operator: 204,
      admin: 204,
    },
  },
  fleet: {
    list: { path: () => "/workers", ...READERS },
    show: { path: ({ ns }) => `/workers/${ns}`, ...READERS },
    pause: administered(ADMIN_WORKERS, ({ ns }) => `/admin/workers/${ns}/pause`, 200),
    resume: administered(ADMIN_WORKERS, ({ ns }) => `/admin/workers/${ns}/resume`, 200),
    drain: administered(ADMIN_WORKERS, ({ ns }) => `/admin/workers/${ns}/drain`, 409),
    delete: administered(ADMIN_WORKERS, "/admin/workers/none", 404),
  },
  workerAttributes: {
    putMetadata: administered(ADMIN_WORKERS, described("/metadata"), 200, { metadata: { n: 1 } }),
    getMetadata: { path: described("/metadata"), ...READERS },
    removeMetadata: administered(ADMIN_WORKERS, described("/metadata/n"), 204),
    clearMetadata: administered(ADMIN_WORKERS, described("/metadata"), 204),
    grantService: administered(ADMIN_WORKERS, described("/services/inference"), 204),
    listServices: { path: described("/services"), ...READERS },
    revokeService: administered(ADMIN_WORKERS, described("/services/inference"), 204),
  },
  limits: {
    put: administered(ADMIN_WORKERS, limit, 200, { concurrency: 1 }),
    list: { path: () => "/admin/limits", ...READERS },
    get: { path: limit, ...CALLERS, viewer: 404, operator: 404, admin: 200 },
    delete: administered(ADMIN_WORKERS, limit, 204),
  },
  joinTokens: {
    create: administered(ADMIN_WORKERS, "/admin/workers/join-tokens", 201, {}),
    list: administered(ADMIN_WORKERS, "/admin/workers/join-tokens", 200),
    revoke: administered(ADMIN_WORKERS, "/admin/workers/join-tokens/x", 404),
    revokeFor: administered(ADMIN_WORKERS, "/admin/workers/join-tokens?subject=x", 204),
  },
  workers: {
    register: {
      path: () => "/workers/register",
      body: ({ ns }) => ({
        name: ns,
        instance_id: "01900000-0000-7000-8000-000000000001",
        protocol: 2,
        engine_version: "0.1.0",
        host: "here",
        pid: 1,
        runtime: { os: "linux", arch: "x64", node: "24" },
      }),
      ...OF_WORKER,
      // A token that is no credential of this name, as one that nobody made (AUTH-50).
      worker: [401, "invalid"],
    },
    credential: own("credential"),
    connect: own("connect"),
    poll: own("poll"),
    heartbeat: own("heartbeat"),
    checkpoint: {
      path: ({ id }) => `/checkpoint/${id}`,
      ...OF_WORKER,
      // It names no worker: the caller is the worker, and has no session here.
      body: () => ({ generation: 1, base_seq: 1, state: "RUNNING", events: [] }),
      worker: 409,
    },
    checkpoints: own("checkpoints"),
    checkpointLines: own("checkpoints/stream"),
    release: own("release"),
    progress: own("progress/{id}"),
    module: own(`modules/${DIGEST}`),
    events: own(`executions/{id}/events?${GENERATION}`),
    saveValue: own(`executions/{id}/values/${DIGEST}?${GENERATION}`),
    loadValue: own(`executions/{id}/values/${DIGEST}?${GENERATION}`),
    cacheLookup: own("executions/{id}/cache"),
    cacheKeep: own("executions/{id}/cache"),
    executionToken: own("executions/{id}/token"),
    secrets: own("secrets/batch"),
    configs: own("configs/batch"),
    disconnect: own("disconnect"),
  },
  roles: {
    create: administered(MANAGE_ROLES, "/admin/roles", 201, ({ ns }) => ({
      name: `of-${ns}`,
      permissions: ["*"],
    })),
    list: administered(READ_ROLES, "/admin/roles", 200),
    get: administered(READ_ROLES, "/admin/roles/viewer", 200),
    clone: administered(MANAGE_ROLES, role("/clone"), 201, ({ ns }) => ({
      new_name: `like-${ns}`,
    })),
    update: administered(MANAGE_ROLES, role(), 200, { permissions: ["hook:*"] }),
    delete: administered(MANAGE_ROLES, role(), 204),
  },
  principals: {
    create: administered(MANAGE_PRINCIPALS, "/admin/principals", 201, ({ ns }) => ({
      subject: `ada.${ns}`,
      type: "service_account",
    })),
    list: administered(READ_PRINCIPALS, "/admin/principals", 200),
    get: administered(READ_PRINCIPALS, ada(), 200),
    update: administered(MANAGE_PRINCIPALS, ada(), 200, { display_name: "Ada" }),
    disable: administered(MANAGE_PRINCIPALS, ada("/disable"), 200),
    ban: administered(MANAGE_PRINCIPALS, ada("/ban"), 200),
    unban: administered(MANAGE_PRINCIPALS, ada("/unban"), 200),
    enable: administered(MANAGE_PRINCIPALS, ada("/enable"), 200),
    grantRole: administered(MANAGE_PRINCIPALS, ada("/roles"), 200, { role: "viewer" }),
    createKey: administered(MANAGE_PRINCIPALS, ada("/keys"), 201, { name: "ci" }),
    listKeys: administered(READ_PRINCIPALS, ada("/keys"), 200),
    revokeKey: administered(MANAGE_PRINCIPALS, ada("/keys/ci"), 204),
    revokeRole: administered(MANAGE_PRINCIPALS, ada("/roles/viewer"), 204),
    delete: administered(MANAGE_PRINCIPALS, ada(), 204),
  },
  secrets: {
    put: administered("secret:db:manage", "/admin/secrets/db", 201, { value: "long enough" }),
    list: {
      path: () => "/admin/secrets",
      ...CALLERS,
      viewer: [403, "secret:*:read", "secret:*:manage", "secret:*:use"],
      operator: 200,
      admin: 200,
    },
    get: administered("secret:db:read", "/admin/secrets/db", 200),
    delete: administered("secret:db:manage", "/admin/secrets/db", 204),
  },
  configs: {
    put: {
      path: ({ ns }) => `/admin/configs/${ns}`,
      ...sends({ value: 1 }),
      ...CALLERS,
      viewer: [403, "config:viewer:manage"],
      operator: 201,
      admin: 201,
    },
    list: { path: () => "/admin/configs", ...READERS },
    get: { path: ({ ns }) => `/admin/configs/${ns}`, ...READERS, viewer: 404 },
    delete: {
      path: ({ ns }) => `/admin/configs/${ns}`,
      ...CALLERS,
      viewer: [403, "config:viewer:manage"],
      operator: 204,
      admin: 204,
    },
  },
  encryption: {
    status: administered("admin:encryption:manage", "/admin/encryption", 200),
    rotate: administered("admin:encryption:manage", "/admin/encryption/rotate", 202),
  },
  audit: {
    list: administered("admin:audit:read", "/admin/audit", 200),
  },
  basic: {
    run: {
      path: ({ ns }) => `/pay?namespace=${ns}&timeout=0.01`,
      ...CALLERS,
      viewer: [403, RUN, CHARGE],
      operator: 202,
      admin: 202,
    },
    resume: {
      path: ({ ns, id }) => `/pay/${id}?namespace=${ns}`,
      ...CALLERS,
      viewer: [403, RUN, CHARGE],
      operator: 409,
      admin: 409,
    },
    inspect: { path: ({ id }) => `/inspect/${id}`, ...READERS },
  },
};

const CALLER_NAMES = [
  "none",
  "expired",
  "unknown",
  "misdirected",
  "worker",
  "task",
  "viewer",
  "operator",
  "admin",
] as const satisfies readonly CallerName[];

const all = Object.entries(rows).flatMap(([group, some]) =>
  Object.entries<Row>(some).map(([name, row]) => {
    const route = (routes as Record<string, Record<string, Route>>)[group]?.[name] as Route;
    return { name: `${group}.${name}`, route, row };
  }),
);

test.each(CALLER_NAMES)(
  "AUTH-59 AUTH-6 AUTH-11 AUTH-29 what a caller is answered on every route: %s",
  async (caller) => {
    const guarded = await Guarded.start();
    const told: Record<string, readonly Expected[]> = {};
    const expected: Record<string, readonly Expected[]> = {};
    for (const { name, route, row } of all) {
      told[name] = await guarded.answers(route, row, caller);
      expected[name] = told[name].map(() => row[caller]);
    }
    expect(told).toEqual(expected);
  },
);
