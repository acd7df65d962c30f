import type { ValuesSource } from "../values-source.ts";

export interface SlowConfigs {
  readonly values: ValuesSource;
  /** Settles when somebody has asked for it and waits. */
  asked(key: string): Promise<void>;
  answer(key: string): void;
  /** What was asked for so far. */
  keys(): string[];
}

/**
 * Configs that a test answers when it likes. An answer travels the way by which a runner hears
 * everything else, so it arrives after what the runner was told before.
 */
export function slowConfigs(): SlowConfigs {
  const asked = new Map<string, PromiseWithResolvers<void>>();
  const answers = new Map<string, PromiseWithResolvers<Record<string, unknown>>>();
  const at = <T>(map: Map<string, PromiseWithResolvers<T>>, key: string) => {
    const known = map.get(key) ?? Promise.withResolvers<T>();
    map.set(key, known);
    return known;
  };
  const values: ValuesSource = {
    secrets: () => Promise.resolve({}),
    configs(_id, _task, [key = ""]) {
      at(asked, key).resolve();
      return at(answers, key).promise;
    },
  };
  return {
    values,
    asked: (key: string) => at(asked, key).promise,
    answer: (key: string) => at(answers, key).resolve({ [key]: key }),
    keys: () => [...asked.keys()],
  };
}
