import { EngineError } from "@engine/contract";
import { interposed, openSqliteStore, type Store, type StoreMethod } from "@engine/store";
import { ManualTime } from "./manual-time.ts";
import { TestEngine } from "./start-engine.ts";

/** An engine whose store may lose its answers, or be long in giving them. */
export class DoubtfulStore implements AsyncDisposable {
  readonly engine: TestEngine;
  /** The store itself, for another server on it. */
  readonly store: Store;
  readonly #lost: Set<string>;
  readonly #held: Map<string, PromiseWithResolvers<void>>;
  readonly #refusing: Map<string, PromiseWithResolvers<void>>;

  private constructor(parts: {
    engine: TestEngine;
    store: Store;
    lost: Set<string>;
    held: Map<string, PromiseWithResolvers<void>>;
    refusing: Map<string, PromiseWithResolvers<void>>;
  }) {
    this.engine = parts.engine;
    this.store = parts.store;
    this.#lost = parts.lost;
    this.#held = parts.held;
    this.#refusing = parts.refusing;
  }

  static async start(): Promise<DoubtfulStore> {
    const time = new ManualTime();
    const { clock } = time;
    const store = await openSqliteStore({ path: ":memory:", synchronous: "normal", clock });
    const lost = new Set<string>();
    const held = new Map<string, PromiseWithResolvers<void>>();
    const refusing = new Map<string, PromiseWithResolvers<void>>();
    const seen = interposed(store, ({ name, kind }, call) => {
      if (!call || kind === "itself") return undefined;
      return async (...asked) => {
        const refused = refusing.get(name);
        refusing.delete(name);
        await refused?.promise;
        const answer = await call(...asked);
        await held.get(name)?.promise;
        if (!lost.delete(name)) return answer;
        throw new EngineError("unavailable", "whether it was written is not known");
      };
    });
    const engine = await TestEngine.start({}, { shared: { store: seen, time } });
    return new DoubtfulStore({ engine, store, lost, held, refusing });
  }

  /** The next call of it does what it should, and says that it cannot tell. */
  loseAnswer(method: StoreMethod): void {
    this.#lost.add(method);
  }

  /** The next call of it does nothing, and fails when that is called which this answers. */
  refuseLater(method: StoreMethod): () => void {
    const gate = Promise.withResolvers<void>();
    this.#refusing.set(method, gate);
    return () => gate.reject(new EngineError("unavailable", "the database is away"));
  }

  /** Calls of it do what they should at once, and answer when that is called which this answers. */
  holdAnswers(method: StoreMethod): () => void {
    const gate = Promise.withResolvers<void>();
    this.#held.set(method, gate);
    return () => {
      this.#held.delete(method);
      gate.resolve();
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.engine[Symbol.asyncDispose]();
    await this.store.close();
  }
}
