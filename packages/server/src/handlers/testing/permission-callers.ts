/** Callers of every kind on one server, with what stands there for each of them to be asked for. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Json, Route, WorkerFrame } from "@engine/contract";
import {
  type Asked,
  type GuardedServer,
  guardedServer,
} from "../../auth/testing/guarded-server.ts";
import { joining } from "../../auth/testing/joining-worker.ts";
import { AUDIENCE, ISSUER, Provider } from "../../auth/testing/provider.ts";

/** A status; for a refusal also what is missing, or the reason where no grant would help. */
export type Expected = number | readonly [status: 401 | 403, ...details: string[]];

/** What stands in a namespace of each caller, under the name of that caller. */
export interface Place {
  readonly ns: string;
  readonly id: string;
}

export interface Row {
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

export const source = (ns: string) =>
  `import { task, workflow } from "@engine/sdk";
const charge = task({ name: "charge" }, async (input) => input);
export const pay = workflow({ name: "pay", namespace: "${ns}" }, async (input) => charge(input));
`;
export const spec = { type: "cron", expression: "0 2 * * *" };

export type CallerName = Exclude<keyof Row, "path" | "body">;

/** One server, with a token for each caller and a place for each of those who may change something. */
export class Guarded {
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

  /** A workflow with an execution that nobody runs, a schedule and a hook of it, a service that offers it. */
  async #furnished(ns: string): Promise<Place> {
    await this.#asAdmin("/workflows", { source: source(ns) });
    const { body } = await this.#asAdmin(`/workflows/${ns}/pay/run/async`, 1);
    await this.#asAdmin("/schedules", {
      ...{ name: ns, namespace: ns, workflow: "pay", spec, run_as: "bot" },
    });
    await this.#asAdmin("/hooks", {
      ...{ name: ns, workflow: `${ns}/pay`, principal: "bot" },
      selectors: ["execution:none:*:failed"],
    });
    await this.#asAdmin("/services", { name: ns, namespaces: [ns], mcp_enabled: true });
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
