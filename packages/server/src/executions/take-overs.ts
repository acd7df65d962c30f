import { EngineError, type ExecutionRow } from "@engine/contract";
import type { ActingFilter, ActingVersion } from "@engine/store";
import { type Accounts, lackOf, refuseLack } from "../auth/accounts.ts";
import { type AuditedCall, auditEntry } from "../auth/audit-entry.ts";
import type { RunLists } from "../auth/run-lists.ts";
import type { EnginePorts } from "../engine-ports.ts";
import type { Executions } from "./executions.ts";

interface Parts {
  readonly ports: Pick<EnginePorts, "store" | "clock" | "ids">;
  readonly executions: Pick<Executions, "get" | "setPrincipal">;
  readonly accounts: Pick<Accounts, "find">;
  readonly runLists: Pick<RunLists, "ofExecution">;
}

/** Who is to have the rights: by subject; by id, too, where callers name themselves. */
export interface NewPrincipalOf {
  readonly subject: string;
  readonly id?: string | undefined;
}

interface Many {
  readonly to: NewPrincipalOf;
  readonly which: ActingFilter;
  readonly limit: number;
  readonly call: AuditedCall;
}

export interface TakenOver {
  readonly taken: number;
  /** That could be taken by the same request again. */
  readonly remaining: number;
  readonly refused: { readonly workflow: string; readonly missing_permissions: string[] }[];
}

/** Changes of many executions that are under way at a time. */
const AT_A_TIME = 200;

/** Gives executions the rights of another principal (AUTH-37). */
export class TakeOvers {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * @throws EngineError `principal_not_found` and the like, `principal_not_permitted`, `conflict` once
   * the execution has ended.
   */
  async one(execution_id: string, to: NewPrincipalOf, call: AuditedCall): Promise<ExecutionRow> {
    const { executions, accounts, runLists } = this.#parts;
    const row = await executions.get(execution_id);
    const account = await accounts.find(to.subject, to.id);
    refuseLack(account, await runLists.ofExecution(row));
    await this.#note(call, to, execution_id);
    return executions.setPrincipal({ execution_id, run_as: account.id });
  }

  /** Those that match, oldest first; what the caller may not run is passed over. */
  async many({ to, which, limit, call }: Many): Promise<TakenOver> {
    const { rights } = call.caller;
    const { ports, executions, accounts, runLists } = this.#parts;
    const account = await accounts.find(to.subject, to.id);
    const allowed: ActingVersion[] = [];
    const refused = new Map<string, Set<string>>();
    for (const version of await ports.store.acting.versions(which)) {
      const needed = await runLists.ofExecution(version);
      if (rights && !needed.every((permission) => rights.holds(permission))) continue;
      const missing = lackOf(account, needed);
      if (missing.length === 0) allowed.push(version);
      else {
        const workflow = `${version.namespace}/${version.workflow}`;
        const all = refused.get(workflow) ?? new Set();
        for (const permission of missing) all.add(permission);
        refused.set(workflow, all);
      }
    }
    const matching = allowed.reduce((sum, { count }) => sum + count, 0);
    const found = matching > 0 ? await ports.store.acting.ofVersions(which, allowed, limit) : [];
    if (found.length > 0) await this.#note(call, to, targetOf(which));
    let taken = 0;
    for (let i = 0; i < found.length; i += AT_A_TIME) {
      const some = found.slice(i, i + AT_A_TIME).map(async ({ execution_id, run_as: from }) => {
        const row = await ended(() =>
          executions.setPrincipal({ execution_id, run_as: account.id, from }),
        );
        if (row?.run_as === account.id) taken++;
      });
      await Promise.all(some);
    }
    return {
      taken,
      remaining: Math.max(matching - found.length, 0),
      refused: [...refused].map(([workflow, missing]) => {
        return { workflow, missing_permissions: [...missing] };
      }),
    };
  }

  /** Written before the change: nothing is taken over that nobody could read of (AUD-2). */
  async #note(call: AuditedCall, { subject, id }: NewPrincipalOf, target: string): Promise<void> {
    const { store, ...ports } = this.#parts.ports;
    const permissions = id === undefined ? [`principal:${subject}:impersonate`] : [];
    const reason = `runs as ${subject}`;
    await store.audit.add(auditEntry(call, { target, permissions, reason }, ports));
  }
}

/** Which executions, as the audit log names them. */
function targetOf({ subject, namespace = "*", workflow = "*" }: ActingFilter): string {
  return `${namespace}/${workflow} of ${subject ?? "nobody"}`;
}

/** Undefined where the execution has ended, or is gone, since it was found. */
async function ended(change: () => Promise<ExecutionRow>): Promise<ExecutionRow | undefined> {
  try {
    return await change();
  } catch (error) {
    const isOver = error instanceof EngineError && ["conflict", "not_found"].includes(error.code);
    if (isOver) return undefined;
    throw error;
  }
}
