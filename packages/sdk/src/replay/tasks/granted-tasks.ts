import { engineFailure, executePermission, type Failure } from "@engine/contract";
import type { TaskDefinition } from "../calls/call.ts";
import type { ExecutionInfo, TaskRights } from "../port.ts";

/** The tasks that the principal which the execution runs as may run, as of now (AUTH-35). */
export class GrantedTasks {
  readonly #info: Pick<ExecutionInfo, "namespace" | "workflow">;
  #rights: TaskRights | undefined;
  /** Undefined: all. */
  #names: ReadonlySet<string> | undefined;

  constructor(info: Pick<ExecutionInfo, "namespace" | "workflow">, rights: TaskRights | undefined) {
    this.#info = info;
    this.rights = rights;
  }

  /** Undefined: nobody's rights are checked. */
  get rights(): TaskRights | undefined {
    return this.#rights;
  }

  set rights(rights: TaskRights | undefined) {
    this.#rights = rights;
    const isOpen = !rights || rights.task_grants.includes("*");
    this.#names = isOpen ? undefined : new Set(rights.task_grants);
  }

  /** Why a task may not run; undefined when it may. */
  refusal({ name, options }: TaskDefinition, of: Of): Failure | undefined {
    if (this.#names === undefined || this.#names.has(name) || options.authExempt === true) {
      return undefined;
    }
    const { namespace, workflow } = this.#info;
    const permission = executePermission(namespace, workflow, name);
    const message = `task ${name} needs ${permission}, which the principal that this execution runs as does not hold; give it that permission, or let somebody who holds it take over`;
    const details = { missing_permissions: [permission] };
    return engineFailure("TaskNotAuthorizedError", message, { details, ...of });
  }
}

type Of = Required<Pick<Failure, "attempts" | "task_call_id">>;
