/** Every route, asked with every kind of credential: who is let in, and what a refusal names. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Json, type Route, routes, type WorkerFrame } from "@engine/contract";
import { expect, test, vi } from "vitest";
import { type Asked, type GuardedServer, guardedServer } from "../auth/testing/guarded-server.ts";
import { joining } from "../auth/testing/joining-worker.ts";
import { AUDIENCE, ISSUER, Provider } from "../auth/testing/provider.ts";

vi.setConfig({ testTimeout: 60_000 });

/** A status; for a refusal also what is missing, or the reason where no grant would help. */
type Expected = number | readonly [status: 401 | 403, ...details: string[]];

/** What stands in a namespace of each caller, under the name of that caller. */
interface Place {
  readonly ns: string;
  readonly id: string;
}

interface Row {
  readonly path: (place: Place) => string;
  readonly body?: (place: Place) => Json;
  /** No credential. */
  readonly none: Expected;
  /** An API key and a provider's token that have run out. */
  readonly expired: Expected;
  /** An API key that nobody made, and a provider's token that nobody signed. */
  readonly unknown: Expected;
  /** A provider's token that is meant for another service. */
  readonly misdirected: Expected;
  readonly viewer: Expected;
  readonly operator: Expected;
  /** The credential of a worker of another name. */
  readonly worker: Expected;
  /** The token of an execution of the admin's that has nothing to do with the one that is named. */
  readonly task: Expected;
  readonly admin: Expected;
}

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
const ADMIN_WORKERS = "admin:workers:manage";
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
const source = (ns: string) =>
  `import { task, workflow } from "@engine/sdk";
const charge = task({ name: "charge" }, async (input) => input);
export const pay = workflow({ name: "pay", namespace: "${ns}" }, async (input) => charge(input));
`;
const spec = { type: "cron", expression: "0 2 * * *" };

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
  fleet: {
    list: { path: () => "/workers", ...READERS },
    show: { path: ({ ns }) => `/workers/${ns}`, ...READERS },
    pause: administered(ADMIN_WORKERS, ({ ns }) => `/admin/workers/${ns}/pause`, 200),
    resume: administered(ADMIN_WORKERS, ({ ns }) => `/admin/workers/${ns}/resume`, 200),
    drain: administered(ADMIN_WORKERS, ({ ns }) => `/admin/workers/${ns}/drain`, 409),
    delete: administered(ADMIN_WORKERS, "/admin/workers/none", 404),
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

type CallerName = Exclude<keyof Row, "path" | "body">;

/** One server, with a token for each caller and a place for each of those who may change something. */
class Guarded {
  readonly #server: GuardedServer;
  #tokens: Readonly<Record<CallerName, readonly (string | undefined)[]>> | undefined;
  readonly #places = new Map<string, Place>();

  private constructor(server: GuardedServer) {
    this.#server = server;
  }

  static async start(): Promise<Guarded> {
    const DAY_MS = 86_400_000;
    let ago = 2 * DAY_MS;
    const provider = new Provider();
    const server = await guardedServer({
      clock: () => Date.now() - ago,
      fetch: provider.fetch,
      config: {
        security: {
          auth: {
            enabled: true,
            oidc: {
              enabled: true,
              issuer: ISSUER,
              audience: AUDIENCE,
              default_user_roles: ["admin"],
            },
          },
          // More failures than an address may have in a minute.
          rate_limits: { auth_failures: "" },
        },
      },
    });
    const guarded = new Guarded(server);
    const expired = await guarded.#account("late", "admin", { expires_in_days: 1 });
    ago = 0;
    await guarded.#account("bot", "operator");
    const bootstrap = readFileSync(join(server.home, "bootstrap-token"), "utf8").trim();
    const joined = await joining(server, "other", bootstrap);
    guarded.#tokens = {
      none: [undefined],
      expired: [expired, provider.token({}, Date.now() - DAY_MS)],
      unknown: [
        ...[`engine_sk_aaaaaaaaaaaa_${"a".repeat(43)}`, "e30.e30.AAAA"],
        new Provider().token(),
      ],
      misdirected: [provider.token({ aud: "another" })],
      viewer: [await guarded.#account("viewer", "viewer")],
      operator: [await guarded.#account("operator", "operator")],
      worker: [joined.body.credential.token],
      task: [await guarded.#taskToken(joined.body)],
      admin: [server.adminKey],
    };
    for (const ns of ["viewer", "operator", "admin"]) {
      await joining(server, ns, bootstrap);
      guarded.#places.set(ns, await guarded.#furnished(ns));
    }
    return guarded;
  }

  /** What a caller is answered, in the form of the table; by each of its tokens. */
  async answers(route: Route, row: Row, caller: CallerName): Promise<readonly Expected[]> {
    const place = this.#places.get(caller) ?? (this.#places.get("viewer") as Place);
    const tokens = this.#tokens?.[caller] ?? [];
    const body = row.body?.(place);
    const path = row.path(place);
    return Promise.all(
      tokens.map(async (token) => inTable(await this.#ask(route.method, path, { token, body }))),
    );
  }

  async #ask(
    method: string,
    path: string,
    {
      token,
      body,
    }: {
      readonly token?: string | undefined;
      readonly body?: Json | undefined;
    },
  ): Promise<Pick<Asked, "status" | "body">> {
    const response = await fetch(this.#server.server.url + path, {
      method,
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { "content-type": "application/json" }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.includes("json") ?? false;
    return { status: response.status, body: isJson && text ? JSON.parse(text) : text };
  }

  async #account(subject: string, roleName: string, key: object = {}): Promise<string> {
    await this.#asAdmin("/admin/principals", {
      ...{ subject, type: "service_account", roles: [roleName] },
    });
    const keys = `/admin/principals/${subject}/keys`;
    return (await this.#asAdmin(keys, { name: "k", ...key })).body.key;
  }

  /** That of an execution which the worker was given. */
  async #taskToken({ credential, session }: Asked["body"]): Promise<string> {
    await this.#furnished("own");
    for (;;) {
      const response = await fetch(`${this.#server.server.url}/workers/other/poll`, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          authorization: `Bearer ${credential.token}`,
          "x-engine-worker-session": session,
        },
        body: JSON.stringify({ running: [], slots_free: 1, wait_seconds: 10 }),
      });
      const { frames } = (await response.json()) as { frames: WorkerFrame[] };
      for (const { event, data } of frames) {
        if (event === "assign" && data.execution_token) return data.execution_token.token;
      }
    }
  }

  /** A workflow with an execution that nobody runs, and a schedule of it. */
  async #furnished(ns: string): Promise<Place> {
    await this.#asAdmin("/workflows", { source: source(ns) });
    const { body } = await this.#asAdmin(`/workflows/${ns}/pay/run/async`, 1);
    await this.#asAdmin("/schedules", {
      ...{ name: ns, namespace: ns, workflow: "pay", spec, run_as: "bot" },
    });
    return { ns, id: body.execution_id };
  }

  async #asAdmin(path: string, body: Json): Promise<Asked> {
    const answer = await this.#server.ask(path, this.#server.adminKey, body);
    if (answer.status >= 300) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
    return answer;
  }
}

function inTable({ status, body }: Pick<Asked, "status" | "body">): Expected {
  if (status !== 401 && status !== 403) return status;
  const { code, details } = body.error;
  const expectedCode = status === 401 ? "unauthenticated" : "permission_denied";
  if (code !== expectedCode) throw new Error(`${status} with ${code}`);
  if (details.reason !== undefined) return [status, details.reason];
  return [status, ...details.missing_permissions];
}

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
