/** What registering and deleting workflows does to the hooks that they declare (HOOK-49 to HOOK-51). */
import type { AuditEntry, DeclaredHook, ExtractedWorkflow } from "@engine/contract";
import type { DeclaredHooks, HookEdit, HookRow } from "@engine/store";
import type { EnginePorts } from "../engine-ports.ts";
import { impersonated } from "./impersonation.ts";
import { reconcileHooks } from "./reconcile-hooks.ts";

/** A hook that a registration makes, or changes in what it listens to, runs, or as whom. */
export interface NeededHook {
  readonly namespace: string;
  readonly hook: DeclaredHook;
}

/** Who registers, as far as hooks have to know. */
export interface HookRegistrar {
  /** Subject; null with authorization off. */
  readonly by: string | null;
  /**
   * Throws unless the caller may have these hooks, and they could run what they name (HOOK-50). Asked
   * before anything is written, and anew where hooks were changed meanwhile.
   */
  readonly approve: (needed: readonly NeededHook[]) => Promise<void>;
  /** What is written down of a hook; `used` is the account that something runs as because of it. */
  readonly audit: (hook: string, used: string | null) => AuditEntry;
}

type Declaring = Pick<ExtractedWorkflow, "namespace" | "name" | "hooks">;

export class HookDeclarations {
  readonly #ports: Pick<EnginePorts, "ids" | "store">;
  readonly #listeners: (() => void | Promise<void>)[] = [];

  constructor(ports: Pick<EnginePorts, "ids" | "store">) {
    this.#ports = ports;
  }

  /** Calls back when declared hooks may have been written, before that is answered (HOOK-12). */
  onChange(then: () => void | Promise<void>): void {
    this.#listeners.push(then);
  }

  async changed(): Promise<void> {
    for (const then of this.#listeners) await then();
  }

  /**
   * Writes the hooks of workflows with their versions. What was approved is what is written: where hooks
   * were changed in between, all is approved anew.
   *
   * @param register Saves the versions with these hooks, in one transaction.
   * @throws EngineError What `approve` throws; `hook_exists`.
   */
  async reconciling<Value>(
    workflows: readonly Declaring[],
    {
      registrar,
      dryRun,
    }: { readonly registrar?: HookRegistrar | undefined; readonly dryRun: boolean },
    register: (hooks: readonly DeclaredHooks[]) => Promise<Value>,
  ): Promise<Value> {
    for (;;) {
      const needed = registrar && (await this.#needed(workflows));
      if (needed) await registrar.approve(needed);
      const approved = needed && new Set(needed.map(({ hook }) => approvalOf(hook)));
      let isChanged = false;
      const hooks = workflows.map(({ namespace, name, hooks: declared }): DeclaredHooks => {
        const owner_ref = `${namespace}/${name}`;
        const put = (own: readonly HookRow[]) => {
          const edits = this.#edits(own, { owner_ref, declared, registrar, approved });
          isChanged ||= edits.length > 0;
          return edits;
        };
        return { owner_ref, put };
      });
      try {
        const value = await register(hooks);
        if (isChanged && !dryRun) await this.changed();
        return value;
      } catch (error) {
        if (!(error instanceof HooksMoved)) throw error;
      }
    }
  }

  /** Equal, removed and more or fewer tries need nothing. */
  async #needed(workflows: readonly Declaring[]): Promise<readonly NeededHook[]> {
    const declaring = workflows.filter(({ hooks }) => hooks.length > 0);
    if (declaring.length === 0) return [];
    const owners = declaring.map(({ namespace, name }) => `${namespace}/${name}`);
    const rows = await this.#ports.store.hooks.ownedBy("workflow", owners);
    const own = Map.groupBy(rows, ({ owner_ref }) => owner_ref);
    return declaring.flatMap(({ namespace, hooks }, at) => {
      const { created, changed } = reconcileHooks(own.get(owners[at] ?? "") ?? [], hooks);
      const restricted = changed.filter(({ row, change }) => impersonated(row, change) !== null);
      const results = restricted.map(({ row, change }): DeclaredHook => declaredOf(row, change));
      return [...created, ...results].map((hook) => ({ namespace, hook }));
    });
  }

  #edits(own: readonly HookRow[], of: Owner): readonly HookEdit[] {
    const { created, changed, deleted } = reconcileHooks(own, of.declared);
    const { registrar, approved, owner_ref } = of;
    const by = registrar?.by ?? null;
    const used = (hook: DeclaredHook): string => {
      if (approved && !approved.has(approvalOf(hook))) throw new HooksMoved();
      return hook.principal;
    };
    return [
      ...created.map((hook): HookEdit => {
        const audit = registrar?.audit(hook.name, used(hook));
        const made = { id: this.#ports.ids(), enabled: true, created_by: by };
        const row = { ...hook, ...made, owner_type: "workflow", owner_ref } as const;
        return { kind: "create", hook: row, audit };
      }),
      ...changed.map(({ row, change }): HookEdit => {
        const isRestricted = impersonated(row, change) !== null;
        const account = isRestricted ? used(declaredOf(row, change)) : null;
        return { kind: "change", row, change, by, audit: registrar?.audit(row.name, account) };
      }),
      ...deleted.map((row): HookEdit => {
        return { kind: "delete", row, audit: registrar?.audit(row.name, null) };
      }),
    ];
  }
}

interface Owner {
  readonly owner_ref: string;
  readonly declared: readonly DeclaredHook[];
  readonly registrar: HookRegistrar | undefined;
  /** What the registrar has approved; undefined: everything is. */
  readonly approved: ReadonlySet<string> | undefined;
}

/** What approving looks at: somebody who may have the account run the target may have any such hook. */
function approvalOf({ principal, workflow }: DeclaredHook): string {
  return `${principal} ${workflow}`;
}

function declaredOf(row: HookRow, change: Reconciled["change"]): DeclaredHook {
  const { name, selectors, workflow, principal, max_attempts } = { ...row, ...change };
  return { name, selectors: [...selectors], workflow, principal, max_attempts };
}

type Reconciled = ReturnType<typeof reconcileHooks>["changed"][number];

/** A hook that nobody has approved would be written: somebody changed hooks since they were looked at. */
class HooksMoved extends Error {
  override readonly name = "HooksMoved";
}
