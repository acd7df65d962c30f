import { EngineError } from "@engine/contract";
import { openSqliteStore, type Store } from "@engine/store";
import { ManualTime } from "./manual-time.ts";
import { TestEngine } from "./start-engine.ts";

type Method = keyof Store;

/** An engine whose store may lose its answers, or be long in giving them. */
export class DoubtfulStore implements AsyncDisposable {
  readonly engine: TestEngine;
  readonly #store: Store;
  readonly #lost: Set<string>;
  readonly #held: Map<string, PromiseWithResolvers<void>>;

  private constructor(parts: {
    engine: TestEngine;
    store: Store;
    lost: Set<string>;
    held: Map<string, PromiseWithResolvers<void>>;
  }) {
    this.engine = parts.engine;
    this.#store = parts.store;
    this.#lost = parts.lost;
    this.#held = parts.held;
  }

  static async start(): Promise<DoubtfulStore> {
    const time = new ManualTime();
    const { clock } = time;
    const store = await openSqliteStore({ path: ":memory:", synchronous: "normal", clock });
    const lost = new Set<string>();
    const held = new Map<string, PromiseWithResolvers<void>>();
    const seen = new Proxy(store, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== "function") return member;
        return async (...asked: unknown[]) => {
          const answer: unknown = await member.apply(target, asked);
          await held.get(String(name))?.promise;
          if (!lost.delete(String(name))) return answer;
          throw new EngineError("unavailable", "whether it was written is not known");
        };
      },
    });
    const engine = await TestEngine.start({}, { shared: { store: seen, time } });
    return new DoubtfulStore({ engine, store, lost, held });
  }

  /** The next call of it does what it should, and says that it cannot tell. */
  loseAnswer(method: Method): void {
    this.#lost.add(method);
  }

  /** Calls of it do what they should at once, and answer when that is called which this answers. */
  holdAnswers(method: Method): () => void {
    const gate = Promise.withResolvers<void>();
    this.#held.set(method, gate);
    return () => {
      this.#held.delete(method);
      gate.resolve();
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.engine[Symbol.asyncDispose]();
    await this.#store.close();
  }
}
