import {
  decode,
  type Event,
  engineFailure,
  type Failure,
  type Json,
  type State,
} from "@engine/contract";
import type { WorkflowContext } from "../context.ts";
import { checkSchema, type StandardSchema } from "../standard-schema.ts";
import type { AnyWorkflow } from "../workflow.ts";
import type { Scope } from "./call.ts";
import { CallIds } from "./call-ids.ts";
import { Core } from "./core.ts";
import { toFailure } from "./failure.ts";
import type { RunningExecution, RunOptions } from "./port.ts";
import { CallRuntime } from "./runtime.ts";
import { STORED_NULL, storeOr } from "./stored.ts";

/**
 * Runs a copy of an execution: replays its log through the workflow's body and goes on from there.
 * A fresh execution and one that comes back after a crash, a pause or a move take the same path.
 */
export function startExecution(workflow: AnyWorkflow, options: RunOptions): RunningExecution {
  const core = new Core(options);
  const { journal } = core;
  const cause = journal.resuming?.meta?.["cause"] ?? "recover";
  if (!journal.hasStarted) core.emit(undefined, "WORKFLOW_STARTED", stored(options.info.input));
  else {
    const input = journal.resuming ? stored(journal.resuming.value) : STORED_NULL;
    core.emit(undefined, "WORKFLOW_RESUMED", input, { meta: { cause } });
  }
  void new Body(core, workflow).run();
  return {
    info: options.info,
    ended: core.ended,
    get head() {
      return core.outbox.head;
    },
    deliver: (base_seq, events) => core.deliver(base_seq, events),
    listen: (on) => core.progress.listen(on),
    stop: (reason) => core.stop(reason),
  };
}

function stored(value: Json): string {
  return JSON.stringify(value);
}

/** The workflow's own function: from its input to the terminal event. */
class Body {
  readonly #core: Core;
  readonly #workflow: AnyWorkflow;

  constructor(core: Core, workflow: AnyWorkflow) {
    this.#core = core;
    this.#workflow = workflow;
  }

  async run(): Promise<void> {
    const core = this.#core;
    const input = decode(core.options.info.input);
    const schema = this.#workflow.options.input as StandardSchema | undefined;
    const checked = schema ? await checkSchema(schema, input) : { value: input };
    if (checked.issues !== undefined) {
      const message = `input of ${this.#workflow.qualifiedName} does not fit its schema: ${checked.issues}`;
      core.replay();
      return this.#over({ failure: engineFailure("InvalidInputError", message) });
    }

    const scope: Scope = {
      runtime: new CallRuntime(core),
      parent: undefined,
      ids: new CallIds(null),
      group: core.root,
      inTask: false,
      task: undefined,
    };
    const context = bodyContext(core, this.#workflow);
    const body = async () => this.#workflow.body(checked.value as never, context);
    const result = core.options.host.runInScope(scope, body).then(
      (output) => this.#over({ output }),
      (error: unknown) => this.#over({ failure: toFailure(error) }),
    );
    core.replay();
    await result;
  }

  /** The body is over: what it left open is given up, then the terminal event is written (EXE-33). */
  #over(result: { output: unknown; failure?: never } | { failure: Failure }): void {
    const core = this.#core;
    core.bodyIsOver(() => {
      if (core.root.open.size || core.combinators.size) {
        core.abandon(core.root, () => void this.#terminate(result));
      } else void this.#terminate(result);
    });
  }

  async #terminate(result: { output: unknown; failure?: never } | { failure: Failure }) {
    const core = this.#core;
    if (result.failure) return core.terminate("WORKFLOW_FAILED", JSON.stringify(result.failure));
    const schema = this.#workflow.options.output as StandardSchema | undefined;
    const checked = schema ? await checkSchema(schema, result.output) : { value: result.output };
    if (checked.issues !== undefined) {
      const message = `output of ${this.#workflow.qualifiedName} does not fit its schema: ${checked.issues}`;
      const failure = engineFailure("InvalidOutputError", message);
      return core.terminate("WORKFLOW_FAILED", JSON.stringify(failure));
    }
    const { stored, failure } = storeOr(checked.value, "output", {
      maxBytes: core.options.limits.max_value_bytes,
      task_call_id: null,
      attempts: 1,
    });
    if (failure) core.terminate("WORKFLOW_FAILED", JSON.stringify(failure));
    else core.terminate("WORKFLOW_COMPLETED", stored.text);
  }
}

function bodyContext(core: Core, workflow: AnyWorkflow): WorkflowContext {
  const { info } = core.options;
  const state: State = "RUNNING";
  const fields = {
    executionId: info.execution_id,
    name: workflow.name,
    namespace: info.namespace,
    version: info.version,
    label: info.name,
    input: decode(info.input),
    output: null,
    metadata: workflow.options.metadata ?? {},
    state,
    finished: false,
    succeeded: false,
    failed: false,
    paused: false,
    cancelled: false,
  };
  return Object.freeze({
    ...fields,
    get events(): readonly Event[] {
      return core.eventsReceived;
    },
  });
}
