import { type CacheKey, decode, parseDuration, type Stored, store } from "@engine/contract";
import type { CacheOptions } from "../../options.ts";
import type { TaskDefinition } from "../calls/call.ts";
import type { RunOptions } from "../port.ts";
import type { RunAside } from "../stored.ts";

/**
 * The task cache as one call sees it (EXE-49a). A cache that does not answer is no reason to fail: the
 * task runs, and the worker's log tells.
 */
export class CachedOutput {
  readonly #options: RunOptions;
  readonly #task: TaskDefinition;
  readonly #cache: CacheOptions<unknown>;
  readonly #run: RunAside;
  /** Made once, so that an output is kept under the key it was looked for. */
  #key: CacheKey | undefined;

  constructor(
    options: RunOptions,
    task: TaskDefinition,
    { cache, run }: { cache: true | CacheOptions<unknown>; run: RunAside },
  ) {
    this.#options = options;
    this.#task = task;
    this.#cache = cache === true ? {} : cache;
    this.#run = run;
  }

  /** The output of an earlier call with an equal key. */
  async find(input: unknown, inputText: string): Promise<Stored | undefined> {
    const { services } = this.#options.port;
    return this.#orNothing("the task cache could not be read", async () => {
      this.#key = await this.#keyOf(input, inputText);
      const text = await services.lookUp(this.#key);
      return text === undefined ? undefined : { text, value: decode(JSON.parse(text)) };
    });
  }

  /** Keeps the output of a call that was looked for and not found. */
  async keep({ text }: Stored): Promise<void> {
    const key = this.#key;
    if (!key) return;
    const { services } = this.#options.port;
    const ttl = parseDuration(this.#cache.ttl ?? "24h") ?? 0;
    await this.#orNothing("a result could not be cached", () => services.keep(key, text, ttl));
  }

  async #keyOf(input: unknown, inputText: string): Promise<CacheKey> {
    const { host, info } = this.#options;
    const { key, version = "1" } = this.#cache;
    const text = key ? store(await this.#run(() => key(input)), "cache.key").text : inputText;
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
