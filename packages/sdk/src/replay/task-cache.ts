import { type CacheKey, decode, parseDuration, type Stored, store } from "@engine/contract";
import type { CacheOptions } from "../options.ts";
import type { TaskDefinition } from "./call.ts";
import type { RunOptions } from "./port.ts";

/**
 * The cache as one call sees it (EXE-49a). One that does not answer is no reason to fail: the task
 * runs, and the worker's log tells.
 */
export class TaskCache {
  readonly #options: RunOptions;
  readonly #task: TaskDefinition;
  readonly #cache: CacheOptions<unknown>;

  constructor(options: RunOptions, task: TaskDefinition, cache: true | CacheOptions<unknown>) {
    this.#options = options;
    this.#task = task;
    this.#cache = cache === true ? {} : cache;
  }

  /** The output of an earlier call with an equal key. */
  async find(input: unknown, inputText: string): Promise<Stored | undefined> {
    const { services } = this.#options.port;
    return this.#orNothing("the task cache could not be read", async () => {
      const text = await services.lookUp(this.#keyOf(input, inputText));
      return text === undefined ? undefined : { text, value: decode(JSON.parse(text)) };
    });
  }

  async keep(input: unknown, inputText: string, { text }: Stored): Promise<void> {
    const { services } = this.#options.port;
    const ttl = parseDuration(this.#cache.ttl ?? "24h") ?? 0;
    await this.#orNothing("a result could not be cached", () =>
      services.keep(this.#keyOf(input, inputText), text, ttl),
    );
  }

  #keyOf(input: unknown, inputText: string): CacheKey {
    const { host, info } = this.#options;
    const { key, version = "1" } = this.#cache;
    const text = key ? store(key(input), "cache.key").text : inputText;
    return { namespace: info.namespace, task: this.#task.name, version, digest: host.hash(text) };
  }

  async #orNothing<T>(message: string, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      const details = { task: this.#task.name, error: String(error) };
      this.#options.host.log("warn", message, details);
      return undefined;
    }
  }
}
