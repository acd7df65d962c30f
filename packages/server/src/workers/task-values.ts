import {
  EngineError,
  type ExecutionRow,
  isTerminal,
  type Json,
  notFound,
  stale,
  type WorkflowRecord,
} from "@engine/contract";
import type { Catalog } from "../catalog/catalog.ts";

/** Values by name; those that do not exist are absent. */
type ValuesOf = (names: readonly string[]) => Promise<ReadonlyMap<string, Json>>;

interface Parts {
  readonly catalog: Pick<Catalog, "resolve" | "findOfModule">;
  readonly secrets: { readonly values: ValuesOf };
  readonly configs: { readonly values: ValuesOf };
}

export interface AskedNames {
  readonly task: string | null;
  readonly names: readonly string[];
}

type Values = Readonly<Record<string, Json>>;
type Declared = Pick<WorkflowRecord, "secrets" | "configs">;

/**
 * Secrets and configs for tasks of an execution: what the version that it is pinned to declares, and
 * nothing else (SEC-6). The caller has checked who owns the execution.
 */
export class TaskValues {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  async secrets(row: ExecutionRow, asked: AskedNames): Promise<Values> {
    const record = await this.#recordOf(row);
    refuseUndeclared("secret", asked, declaredBy(record, asked.task, "secrets"));
    return named("secret", asked.names, await this.#parts.secrets.values(asked.names));
  }

  async configs(row: ExecutionRow, asked: AskedNames): Promise<Values> {
    const record = await this.#recordOf(row);
    // Code names the config where it asks for it, and no config is hidden from whoever writes the code.
    if (asked.task !== null) {
      refuseUndeclared("config", asked, declaredBy(record, asked.task, "configs"));
    }
    return named("config", asked.names, await this.#parts.configs.values(asked.names));
  }

  /** Also of a version that was deleted since. */
  async #recordOf(row: ExecutionRow): Promise<WorkflowRecord> {
    if (isTerminal(row.state)) throw stale(row);
    const { namespace, workflow, version, module_hash } = row;
    const { catalog } = this.#parts;
    try {
      return (await catalog.resolve(namespace, workflow, version ?? undefined)).record;
    } catch (error) {
      const isGone = error instanceof EngineError && error.code === "not_found";
      const found = isGone && module_hash !== null;
      const stored = found && (await catalog.findOfModule(namespace, workflow, module_hash));
      if (!stored) throw error;
      return stored.record;
    }
  }
}

function declaredBy(
  record: WorkflowRecord,
  task: string | null,
  kind: keyof Declared,
): ReadonlySet<string> {
  const own = record.tasks.find(({ name }) => name === task)?.[kind] ?? [];
  return new Set([...record[kind], ...own]);
}

function refuseUndeclared(
  kind: "secret" | "config",
  { task, names }: AskedNames,
  declared: ReadonlySet<string>,
): void {
  const undeclared = names.filter((name) => !declared.has(name));
  if (undeclared.length === 0) return;
  const message = `task ${task} declares no ${kind} ${undeclared.join(", ")}, and neither does its workflow in the version that runs`;
  throw new EngineError("permission_denied", message, {
    details: { missing_permissions: [], reason: "undeclared", undeclared },
  });
}

function named(
  kind: "secret" | "config",
  names: readonly string[],
  values: ReadonlyMap<string, Json>,
): Values {
  const missing = names.filter((name) => !values.has(name));
  if (missing.length > 0) {
    const { message, details } = notFound(kind, missing.join(", "));
    throw new EngineError("not_found", message, { details: { ...details, names: missing } });
  }
  // A name may be that of something every object has.
  return Object.fromEntries(values);
}
