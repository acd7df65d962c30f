import type { AuditEntry, HookOwnerType } from "@engine/contract";
import type { Page } from "./port.ts";

/** A hook. Instants are milliseconds since 1970. */
export interface HookRow {
  readonly id: string;
  readonly name: string;
  readonly enabled: boolean;
  /** Legal ones, each once, in the order in which they were given. */
  readonly selectors: readonly string[];
  /** `<namespace>/<name>` of what it runs. */
  readonly workflow: string;
  /** Subject of the service account that runs it. */
  readonly principal: string;
  readonly max_attempts: number;
  readonly owner_type: HookOwnerType;
  readonly owner_ref: string | null;
  readonly created_at: number;
  readonly created_by: string | null;
  readonly updated_at: number;
  readonly updated_by: string | null;
  /** Counted up by each change of a value (HOOK-26). */
  readonly revision: number;
}

export type NewHookRow = Omit<HookRow, "created_at" | "updated_at" | "updated_by" | "revision">;

/** What a change of a hook may touch. */
export type HookChange = Partial<
  Pick<HookRow, "enabled" | "selectors" | "workflow" | "principal" | "max_attempts">
>;

export interface HookFilter {
  readonly enabled_only?: boolean | undefined;
  readonly owner_type?: HookOwnerType | undefined;
  readonly owner_ref?: string | undefined;
  readonly limit: number;
  readonly offset: number;
}

/** Named subscriptions to events. */
export interface HookPort {
  /** By name. */
  list(filter: HookFilter): Promise<Page<HookRow>>;
  find(name: string): Promise<HookRow | undefined>;
  /** Rejects `hook_exists`, with its owner, where the name is taken. */
  create(hook: NewHookRow, audit?: AuditEntry): Promise<HookRow>;
  /**
   * Changes a hook, if it is still at the revision at which the change was checked (HOOK-37). One that
   * stays as it was keeps its revision and its instant, and nothing is written down of it.
   *
   * @returns The hook as it is now; undefined where there is none, "stale" at another revision.
   */
  change(
    name: string,
    change: HookChange,
    at: { readonly revision: number; readonly by: string | null },
    audit?: AuditEntry,
  ): Promise<HookRow | "stale" | undefined>;
  /** Deletes a hook with its deliveries; answers how many of them were pending, undefined where there is no hook. */
  delete(name: string, audit?: AuditEntry): Promise<number | undefined>;
  status(hook_id: string): Promise<{
    readonly pending: number;
    readonly dead: number;
    readonly last_delivered_at: number | null;
  }>;
}
