import { EngineError, type MetricsProvider } from "@engine/contract";
import { type World, within } from "../world.ts";
import type { FromProvider } from "./provider-messages.ts";
import { ProviderThread } from "./provider-thread.ts";

const LOAD_MS = 30_000;
const CALL_MS = 5_000;

export interface ProviderCallsOptions extends Pick<World, "setTimer" | "life"> {
  readonly provider: MetricsProvider;
  /** What its code sees of the worker's environment. */
  readonly env: NodeJS.ProcessEnv;
}

/** What a call of the provider came to. */
export type Collected = Extract<FromProvider, { kind: "values" | "failed" }>;

/**
 * Calls a metrics provider on a thread of its own: one that hangs, blocks or ends its thread harms
 * nothing but its own metrics, and gets a fresh thread for the next call.
 */
export class ProviderCalls {
  readonly #options: ProviderCallsOptions;
  #thread: ProviderThread | undefined;
  /** Code of the last thread is still running, and cannot be interrupted. */
  #isEnding = false;

  constructor(options: ProviderCallsOptions) {
    this.#options = options;
    options.life.addEventListener("abort", () => this.#thread?.end());
  }

  /** @throws EngineError `invalid_input` where the module does not load or lacks the export. */
  async open(): Promise<void> {
    const { path } = this.#options.provider;
    const failed = await this.#begin();
    if (!failed) return;
    throw new EngineError(
      "invalid_input",
      `engine.workers.metrics_provider: ${path} cannot be used: ${failed}`,
    );
  }

  /** One at a time. Never rejects. */
  async collect(): Promise<Collected> {
    if (this.#isEnding) {
      return { kind: "failed", why: "an earlier call still runs, and cannot be interrupted" };
    }
    const failed = this.#thread ? undefined : await this.#begin();
    const thread = this.#thread;
    if (failed || !thread) return { kind: "failed", why: failed ?? "its thread has ended" };
    const answer = await this.#timely(thread, CALL_MS, thread.ask());
    if (!answer) return { kind: "failed", why: `it took longer than ${CALL_MS / 1000} s` };
    if (answer.kind === "values" || answer.kind === "failed") return answer;
    return { kind: "failed", why: "its thread was not ready" };
  }

  /** Why it cannot be used; undefined when it can. */
  async #begin(): Promise<string | undefined> {
    const { provider, env, life } = this.#options;
    if (life.aborted) return "the worker ends";
    const thread = new ProviderThread(provider, env);
    this.#thread = thread;
    void thread.ended.then(() => {
      if (this.#thread === thread) this.#thread = undefined;
    });
    const loaded = await this.#timely(thread, LOAD_MS, thread.loaded());
    if (loaded?.kind === "ready") {
      thread.unref();
      return undefined;
    }
    if (loaded) this.#end(thread);
    const why = loaded && "why" in loaded ? loaded.why : undefined;
    return why ?? `its module did not load within ${LOAD_MS / 1000} s`;
  }

  /** The answer, unless it takes too long: then the thread is ended. */
  async #timely(
    thread: ProviderThread,
    ms: number,
    answer: Promise<FromProvider>,
  ): Promise<FromProvider | undefined> {
    if (await within(this.#options.setTimer, ms, answer)) return answer;
    this.#end(thread);
    return undefined;
  }

  #end(thread: ProviderThread): void {
    this.#isEnding = true;
    this.#thread = undefined;
    void thread.ended.then(() => {
      this.#isEnding = false;
    });
    thread.end();
  }
}
