import { decode, type Event, type State } from "@engine/contract";
import type { WorkflowContext } from "../context.ts";
import type { AnyWorkflow } from "../workflow.ts";
import type { Core } from "./core.ts";
import { copyOf } from "./stored.ts";

/**
 * What a body is told of its execution: equal in every pass, and a copy of its own, so that a body that
 * changes it changes it for no other pass (I9).
 */
export function bodyContext(core: Core, workflow: AnyWorkflow): WorkflowContext {
  const { journal, log, options } = core;
  const { info } = options;
  const state: State = "RUNNING";
  const input = once(() => decode(options.input ?? info.input));
  // Metadata is data of the definition, which every execution in the process shares.
  const metadata = once(() => copyOf(workflow.options.metadata ?? {}));
  const context: WorkflowContext = {
    executionId: info.execution_id,
    name: workflow.name,
    namespace: info.namespace,
    version: info.version,
    label: journal.label === undefined ? info.name : journal.label,
    parentId: info.parent_id,
    get input(): unknown {
      return input();
    },
    output: null,
    failure: null,
    waiting: [] as const,
    get metadata(): Readonly<Record<string, unknown>> {
      return metadata();
    },
    state,
    finished: false,
    succeeded: false,
    failed: false,
    paused: false,
    cancelled: false,
    get events(): readonly Event[] {
      return log.received;
    },
    toJSON() {
      const { executionId, parentId, toJSON: _, ...rest } = context;
      return { execution_id: executionId, parent_id: parentId, ...rest };
    },
  };
  return Object.freeze(context);
}

/** Made at the first look: most bodies never take one. */
function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
