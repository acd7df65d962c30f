import { EngineError, type ProgressItem } from "@engine/contract";
import type { CheckpointReply, Delta, ExecutionPort, LocalServices } from "@engine/sdk/node";
import type {
  Budget,
  FromRunner,
  ServiceAnswer,
  ServiceRequest,
  TaskServices,
} from "../runners/messages.ts";

export interface CopyPortOptions {
  readonly copy: number;
  /** @throws EngineError `payload_too_large` Where a value is not to be made of a text here. */
  checkValue(text: string): void;
  post(message: FromRunner): void;
  /** As they are now on this worker. */
  localServices(): LocalServices;
}

interface Asked {
  resolve(value: unknown): void;
  reject(error: EngineError): void;
}

/** What the replay core of one copy sees of the world: messages to the main thread. */
export class CopyPort implements ExecutionPort {
  readonly services: TaskServices;
  readonly budget: Budget;
  readonly localServices: () => LocalServices;
  readonly #options: CopyPortOptions;
  #isClosed = false;
  /** Answers the delta that is on its way. */
  #reply: ((reply: CheckpointReply) => void) | undefined;
  readonly #asked = new Map<number, Asked>();
  #lastRequest = 0;

  constructor(options: CopyPortOptions) {
    this.#options = options;
    this.localServices = options.localServices;
    this.services = {
      lookUp: (...args) => this.#ask({ method: "lookUp", args }),
      keep: (...args) => this.#ask({ method: "keep", args }),
      saveValue: (...args) => this.#ask({ method: "saveValue", args }),
      loadValue: async (...args) => {
        const text = await this.loadText(...args);
        options.checkValue(text);
        return text;
      },
      secrets: (...args) => this.#ask({ method: "secrets", args }),
      configs: (...args) => this.#ask({ method: "configs", args }),
      executionToken: (...args) => this.#ask({ method: "executionToken", args }),
    };
    this.budget = {
      reserve: (...args) => this.#ask({ method: "reserve", args }),
      retake: (...args) => void this.#ask({ method: "retake", args }),
      release: (...args) => void this.#ask({ method: "release", args }),
    };
  }

  /** The text of a stored value, unchecked: the caller looks at it before it makes a value of it. */
  loadText(...args: Parameters<TaskServices["loadValue"]>): Promise<string> {
    return this.#ask({ method: "loadValue", args });
  }

  checkpoint(delta: Delta): Promise<CheckpointReply> {
    // The main thread does not answer a copy that has stopped.
    if (this.#isClosed) return Promise.resolve({ kind: "stale" });
    return new Promise((reply) => {
      this.#reply = reply;
      const { copy, post } = this.#options;
      post({ kind: "delta", copy, delta });
    });
  }

  reply(reply: CheckpointReply): void {
    const settle = this.#reply;
    this.#reply = undefined;
    settle?.(reply);
  }

  answer(id: number, answer: ServiceAnswer): void {
    const asked = this.#asked.get(id);
    this.#asked.delete(id);
    if (answer.ok) asked?.resolve(answer.value);
    else asked?.reject(EngineError.from(answer));
  }

  progress(item: ProgressItem): void {
    const { copy, post } = this.#options;
    if (!this.#isClosed) post({ kind: "progress", copy, item: JSON.stringify(item) });
  }

  stalled(): void {
    const { copy, post } = this.#options;
    if (!this.#isClosed) post({ kind: "stalled", copy });
  }

  /** The copy is over: it says nothing more, and its open requests are never answered. */
  close(): void {
    this.#isClosed = true;
    this.#asked.clear();
    this.reply({ kind: "stale" });
  }

  #ask<T>(request: ServiceRequest): Promise<T> {
    const { copy, post } = this.#options;
    return new Promise((resolve, reject) => {
      if (this.#isClosed) return;
      const id = ++this.#lastRequest;
      this.#asked.set(id, { resolve: (value) => resolve(value as T), reject });
      post({ kind: "request", copy, id, request });
    });
  }
}
