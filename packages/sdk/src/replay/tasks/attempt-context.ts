import type { Failure } from "@engine/contract";
import type { TaskContext } from "../../options.ts";
import type { Host } from "../port.ts";
import { copyOf } from "../stored.ts";

interface ContextOf extends Omit<TaskContext, "metadata" | "idempotencyKey" | "signal"> {
  readonly host: Host;
  readonly metadata: Readonly<Record<string, unknown>> | undefined;
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
  /** A function of its own, which code may take out of the context. */
  readonly executionToken: () => Promise<string | null>;
  readonly #metadata: Readonly<Record<string, unknown>> | undefined;
  readonly #host: Host;
  #controller: ReturnType<Host["createAbort"]> | undefined;
  #aborted: { readonly reason: unknown } | undefined;

  constructor(of: ContextOf) {
    this.executionId = of.executionId;
    this.taskCallId = of.taskCallId;
    this.name = of.name;
    this.attempt = of.attempt;
    this.#metadata = of.metadata;
    this.failure = of.failure;
    this.secrets = of.secrets;
    this.configs = of.configs;
    this.executionToken = of.executionToken;
    this.#host = of.host;
  }

  /** Data of the definition is shared by all calls of the task: each look at it gives a copy. */
  get metadata(): Readonly<Record<string, unknown>> {
    return copyOf(this.#metadata ?? {});
  }

  get idempotencyKey(): string {
    return `${this.executionId}:${this.taskCallId}`;
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = this.#host.createAbort();
      if (this.#aborted) this.#controller.abort(this.#aborted.reason);
    }
    return this.#controller.signal;
  }

  abort(reason: unknown): void {
    this.#aborted ??= { reason };
    this.#controller?.abort(reason);
  }
}
