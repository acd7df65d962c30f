import {
  EngineError,
  type ExecutionRow,
  executePermission,
  type WorkflowRecord,
} from "@engine/contract";
import type { Catalog } from "../catalog/catalog.ts";
import type { EnginePorts } from "../engine-ports.ts";

interface Parts {
  readonly ports: Pick<EnginePorts, "config">;
  readonly catalog: RunCatalog;
}

type Workflow = Pick<WorkflowRecord, "namespace" | "name" | "tasks" | "nested_workflows">;

/** A version that may run. */
export interface RunVersion {
  readonly record: Workflow;
  /** Null: what it calls is looked up by its name alone. */
  readonly module_hash: string | null;
}

/** Where the workflows are that running leads to. */
export interface RunCatalog {
  /** @throws EngineError `not_found`. */
  resolve(namespace: string, name: string, version?: number): Promise<RunVersion>;
  findOfModule(...of: Parameters<Catalog["findOfModule"]>): Promise<RunVersion | undefined>;
}
type Pinned = Pick<ExecutionRow, "namespace" | "workflow" | "version" | "module_hash">;

/**
 * All that running a workflow takes, for the version that will run (AUTH-31): the right to run it, to
 * execute each of its tasks, and the same for each workflow that it calls, each entry once.
 */
export class RunLists {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Of the latest version, or of the one asked for. A workflow that nobody knows takes `:run` alone. */
  async ofName(namespace: string, name: string, version?: number): Promise<readonly string[]> {
    const found = await this.#find({ namespace, workflow: name, version: version ?? null });
    return found ? this.ofRecord(found.record, found.module_hash) : [toRun(namespace, name)];
  }

  /** Of the version that an execution is pinned to, also where it was deleted since. */
  async ofExecution(row: Pinned): Promise<readonly string[]> {
    const { namespace, workflow, version, module_hash } = row;
    // A local run is no version of the catalog.
    if (version === null) return [toRun(namespace, workflow)];
    const found =
      (await this.#find({ namespace, workflow, version })) ??
      (module_hash === null
        ? undefined
        : await this.#parts.catalog.findOfModule(namespace, workflow, module_hash));
    return found ? this.ofRecord(found.record, module_hash) : [toRun(namespace, workflow)];
  }

  /** @param module_hash Of the version's bundle: what it calls in its own file is of that file. */
  async ofRecord(record: Workflow, module_hash: string | null): Promise<readonly string[]> {
    const list = new Set<string>();
    const visited = new Set<string>();
    const visit = async (workflow: Workflow, hash: string | null): Promise<void> => {
      const { namespace, name } = workflow;
      visited.add(`${namespace}/${name}`);
      list.add(toRun(namespace, name));
      for (const task of this.#checked(workflow))
        list.add(executePermission(namespace, name, task));
      for (const nested of workflow.nested_workflows) {
        if (visited.has(nested)) continue;
        const found = await this.#nested(nested, hash);
        if (found) await visit(found.record, found.module_hash);
        else {
          visited.add(nested);
          list.add(toRun(...partsOf(nested)));
        }
      }
    };
    await visit(record, module_hash);
    return [...list];
  }

  /** Tasks whose execution takes a permission of its own (AUTH-32). */
  #checked({ tasks }: Workflow): readonly string[] {
    const { task_permissions } = this.#parts.ports.config.security.auth;
    if (!task_permissions) return [];
    return tasks.filter(({ auth_exempt }) => !auth_exempt).map(({ name }) => name);
  }

  async #nested(qualified: string, module_hash: string | null) {
    const [namespace, workflow] = partsOf(qualified);
    const sibling =
      module_hash === null
        ? undefined
        : await this.#parts.catalog.findOfModule(namespace, workflow, module_hash);
    return sibling ?? this.#find({ namespace, workflow, version: null });
  }

  async #find({ namespace, workflow, version }: Omit<Pinned, "module_hash">) {
    try {
      return await this.#parts.catalog.resolve(namespace, workflow, version ?? undefined);
    } catch (error) {
      if (error instanceof EngineError && error.code === "not_found") return undefined;
      throw error;
    }
  }
}

function partsOf(qualified: string): [namespace: string, workflow: string] {
  const slash = qualified.indexOf("/");
  return [qualified.slice(0, slash), qualified.slice(slash + 1)];
}

/** The right to run a workflow, which is the first of its list. */
export function toRun(namespace: string, workflow: string): string {
  return `workflow:${namespace}:${workflow}:run`;
}
