import type { Failure } from "@engine/contract";
import type { TaskContext } from "../../options.ts";
import { copyOfMetadata } from "../body-context.ts";
import type { Host } from "../port.ts";

interface ContextOf {
  readonly host: Host;
  readonly execution_id: string;
  readonly task_call_id: string;
  readonly name: string;
  readonly metadata: Readonly<Record<string, unknown>> | undefined;
  readonly attempt: number;
  readonly failure: Failure | null;
  readonly secrets: Readonly<Record<string, unknown>>;
  readonly configs: Readonly<Record<string, unknown>>;
}

/** The context of one attempt. Most tasks never look at the signal, so it is made when asked for. */
export class AttemptContext implements TaskContext {
  readonly executionId: string;
  readonly taskCallId: string;
  readonly name: string;
  readonly attempt: number;
  readonly failure: Failure | null;
  readonly secrets: Readonly<Record<string, unknown>>;
  readonly configs: Readonly<Record<string, unknown>>;
  readonly #metadata: Readonly<Record<string, unknown>> | undefined;
  readonly #host: Host;
  #controller: ReturnType<Host["createAbort"]> | undefined;
  #reason: unknown;
  #isAborted = false;

  constructor(of: ContextOf) {
    this.executionId = of.execution_id;
    this.taskCallId = of.task_call_id;
    this.name = of.name;
    this.attempt = of.attempt;
    this.#metadata = of.metadata;
    this.failure = of.failure;
    this.secrets = of.secrets;
    this.configs = of.configs;
    this.#host = of.host;
  }

  /** Data of the definition is shared by all calls of the task: each look at it gives a copy. */
  get metadata(): Readonly<Record<string, unknown>> {
    return copyOfMetadata(this.#metadata);
  }

  get idempotencyKey(): string {
    return `${this.executionId}:${this.taskCallId}`;
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = this.#host.createAbort();
      if (this.#isAborted) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  abort(reason: unknown): void {
    if (this.#isAborted) return;
    this.#isAborted = true;
    this.#reason = reason;
    this.#controller?.abort(reason);
  }
}
