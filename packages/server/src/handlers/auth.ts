import {
  authSwitch,
  type Config,
  commonGrants,
  ENGINE_ISSUER,
  EngineError,
  formatInstant,
  type Identity,
  type routes,
} from "@engine/contract";
import { answer, type Call, denied, type Handlers } from "@engine/http";
import type { Access } from "../auth/access.ts";
import type { Engine } from "../engine.ts";
import { visibleWorkflows } from "./subjects.ts";

interface Parts {
  readonly engine: Pick<Engine, "catalog" | "runLists">;
  readonly config: Config;
  /** Undefined with authorization off. */
  readonly access: Access | undefined;
}

/** Workflows that are read at a time. */
const PAGE = 500;

export function authHandlers({ engine, config, access }: Parts): Handlers<typeof routes.auth> {
  const { auth } = config.security;
  const { isOn, apiKeys, oidc } = authSwitch(auth);
  const { issuer = "", client_id, scopes } = auth.oidc;
  return {
    config: () =>
      answer(200, {
        auth_enabled: isOn,
        api_keys: apiKeys,
        oidc: oidc ? { issuer, client_id, scopes } : null,
      }),
    whoami: (_, { caller: { identity } }) => answer(200, whoami(identity, isOn)),
    permissions: async ({ query: { workflow } }, call) =>
      answer(
        200,
        workflow === undefined
          ? { items: Object.fromEntries(await readable(call)) }
          : { permissions: await ofWorkflow(workflow, call) },
      ),
    check: ({ body: { permissions } }, { caller: { rights } }) => {
      const allowed = permissions.map((one) => [one, rights?.holds(one) ?? true] as const);
      return answer(200, { allowed: Object.fromEntries(allowed) });
    },
    testToken: async ({ body: { token } }) => {
      if (!access) return answer(200, { valid: false as const, reason: "auth_disabled" });
      try {
        const identity = await access.authentication.test(token.trim());
        const { subject, issuer: of, roles, credential } = identity;
        const expires_at = instant(credential.expires_at);
        const held = { roles: [...roles], permissions: heldBy(identity), expires_at };
        return answer(200, { valid: true as const, subject, issuer: of, ...held });
      } catch (error) {
        const reason = error instanceof EngineError && error.details?.["reason"];
        if (typeof reason !== "string") throw error;
        return answer(200, { valid: false as const, reason });
      }
    },
  };

  /** Its read string, then all that running it takes; refused before it is looked up. */
  async function ofWorkflow(workflow: string, { caller }: Call): Promise<string[]> {
    const [namespace = "", name = ""] = workflow.split("/");
    const read = toRead(namespace, name);
    if (caller.rights && !caller.rights.holds(read)) throw denied([read]);
    await engine.catalog.get(namespace, name);
    return [read, ...(await engine.runLists.ofName(namespace, name))];
  }

  async function readable({ caller, signal }: Call): Promise<[string, string[]][]> {
    const visible = visibleWorkflows(caller.rights?.seenBy(toRead("{ns}", "{wf}")));
    const found: [string, string[]][] = [];
    for (let offset = 0; ; offset += PAGE) {
      const { items } = await engine.catalog.list({ visible, limit: PAGE, offset });
      for (const { namespace, name } of items) {
        signal.throwIfAborted();
        const list = await engine.runLists.ofName(namespace, name);
        found.push([`${namespace}/${name}`, [toRead(namespace, name), ...list]]);
      }
      if (items.length < PAGE) return found;
    }
  }
}

function toRead(namespace: string, workflow: string): string {
  return `workflow:${namespace}:${workflow}:read`;
}

/** With authorization off everybody is anonymous, and may do everything (AUTH-2). */
function whoami(identity: Identity | undefined, auth_enabled: boolean) {
  if (!identity) {
    const nobody = { subject: "anonymous", issuer: ENGINE_ISSUER, type: null, roles: [] };
    return { ...nobody, permissions: ["*"], credential: null, auth_enabled };
  }
  const { subject, issuer, type, id, roles, credential } = identity;
  return {
    ...{ subject, issuer, type: id === null ? null : type, roles: [...roles] },
    permissions: heldBy(identity),
    credential: { ...credential, expires_at: instant(credential.expires_at) },
    auth_enabled,
  };
}

function heldBy({ grants, narrowed_to }: Identity): string[] {
  return [...(narrowed_to ? commonGrants(grants, narrowed_to) : grants)];
}

function instant(ms: number | null): string | null {
  return ms === null ? null : formatInstant(ms);
}
