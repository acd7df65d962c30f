import type { HookOwnerType } from "@engine/contract";

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
