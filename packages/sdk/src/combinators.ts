import { store } from "@engine/contract";
import { type BranchRules, branches, type Settled } from "./replay/calls/branches.ts";
import { inCurrentScope } from "./replay/calls/scope.ts";

/** Options that all combinators of branches take. */
export interface BranchOptions {
  /** Branches at a time; default all. */
  readonly concurrency?: number;
}

/**
 * Runs functions concurrently and gives their results in the order of the list. When one fails,
 * the signals of the others' tasks abort, they get `sibling_grace` to settle, and the first failure
 * is thrown. With `settle: true` it never fails and tells how each branch ended.
 *
 * @throws TypeError when an item is not a function: pass `() => a(1)`, not `a(1)`.
 * @example
 * ```ts
 * const [user, orders] = await parallel([() => loadUser(id), () => loadOrders(id)]);
 * ```
 */
export function parallel<const Fns extends readonly (() => unknown)[]>(
  functions: Fns,
  options: BranchOptions & { readonly settle: true },
): Promise<{ -readonly [K in keyof Fns]: Settled<Awaited<ReturnType<Fns[K]>>> }>;
export function parallel<const Fns extends readonly (() => unknown)[]>(
  functions: Fns,
  options?: BranchOptions & { readonly settle?: false },
): Promise<{ -readonly [K in keyof Fns]: Awaited<ReturnType<Fns[K]>> }>;
export function parallel(
  functions: readonly (() => unknown)[],
  options: BranchOptions & { readonly settle?: boolean } = {},
): Promise<unknown> {
  return inCurrentScope("parallel", (scope) => {
    const wrong = functions.findIndex((fn) => typeof fn !== "function");
    if (wrong >= 0) {
      throw new TypeError(
        `parallel() takes functions: item ${wrong} is a ${typeof functions[wrong]}; write () => task(input) instead of task(input)`,
      );
    }
    const rules = rulesOf("parallel", options);
    return scope.runtime.combinator(scope, {
      kind: "parallel",
      started: store({ branches: functions.length, ...options }, "input").text,
      run: (inside) => branches(inside, functions, rules),
    });
  });
}

/**
 * Calls `fn` for every item, concurrently, and gives the results in the order of the items. Fails
 * and settles as {@link parallel} does.
 *
 * @example
 * ```ts
 * const pages = await map(urls, (url) => fetchPage(url), { concurrency: 8 });
 * ```
 */
export function map<Item, Result>(
  items: Iterable<Item>,
  fn: (item: Item, index: number) => Result,
  options: BranchOptions & { readonly settle: true },
): Promise<Settled<Awaited<Result>>[]>;
export function map<Item, Result>(
  items: Iterable<Item>,
  fn: (item: Item, index: number) => Result,
  options?: BranchOptions & { readonly settle?: false },
): Promise<Awaited<Result>[]>;
export function map<Item>(
  items: Iterable<Item>,
  fn: (item: Item, index: number) => unknown,
  options: BranchOptions & { readonly settle?: boolean } = {},
): Promise<unknown> {
  return inCurrentScope("map", (scope) => {
    const list = Array.from(items);
    if (typeof fn !== "function") throw new TypeError(`map() takes a function, not a ${typeof fn}`);
    const rules = rulesOf("map", options);
    const functions = list.map((item, index) => () => fn(item, index));
    return scope.runtime.combinator(scope, {
      kind: "map",
      started: store({ items: list, ...options }, "input").text,
      run: (inside) => branches(inside, functions, rules),
    });
  });
}

type Step<In, Out> = (input: In) => Out | Promise<Out>;

/**
 * Passes a value through tasks or plain functions, each getting the output of the one before.
 *
 * @example
 * ```ts
 * const report = await pipeline(path, load, clean, summarise);
 * ```
 */
export function pipeline<A, B>(input: A, s1: Step<A, B>): Promise<B>;
export function pipeline<A, B, C>(input: A, s1: Step<A, B>, s2: Step<B, C>): Promise<C>;
export function pipeline<A, B, C, D>(
  input: A,
  ...steps: [Step<A, B>, Step<B, C>, Step<C, D>]
): Promise<D>;
export function pipeline<A, B, C, D, E>(
  input: A,
  ...steps: [Step<A, B>, Step<B, C>, Step<C, D>, Step<D, E>]
): Promise<E>;
export function pipeline<A, B, C, D, E, F>(
  input: A,
  ...steps: [Step<A, B>, Step<B, C>, Step<C, D>, Step<D, E>, Step<E, F>]
): Promise<F>;
export function pipeline<Out = unknown>(
  input: unknown,
  ...steps: Step<never, unknown>[]
): Promise<Out>;
export function pipeline(
  input: unknown,
  ...steps: ((value: never) => unknown)[]
): Promise<unknown> {
  return inCurrentScope("pipeline", (scope) => {
    const wrong = steps.findIndex((step) => typeof step !== "function");
    if (wrong >= 0) throw new TypeError(`pipeline() takes functions: step ${wrong} is not one`);
    return scope.runtime.combinator(scope, {
      kind: "pipeline",
      started: store({ input, steps: steps.length }, "input").text,
      run: async (inside) => {
        const run = async () => {
          let value = input;
          for (const step of steps) value = await step(value as never);
          return value;
        };
        const [result] = await branches(inside, [run]);
        return result;
      },
    });
  });
}

function rulesOf(
  name: string,
  { concurrency, settle, ...rest }: BranchOptions & { readonly settle?: boolean },
): BranchRules {
  const [unknown] = Object.keys(rest);
  if (unknown)
    throw new TypeError(`${name}() has no option "${unknown}"; it takes: concurrency, settle`);
  if (concurrency === undefined || (Number.isInteger(concurrency) && concurrency >= 1)) {
    return { limit: concurrency, settle };
  }
  throw new TypeError(`${name}() needs a concurrency of at least 1; got ${concurrency}`);
}
