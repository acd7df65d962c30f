import { EngineError } from "@engine/contract";
import type { Scope } from "./call.ts";

let read: () => unknown = () => undefined;

/** Tells the authoring functions how to find the scope they are called in. One per process. */
export function setScopeReader(reader: () => unknown): void {
  read = reader;
}

export function currentScope(): Scope | undefined {
  return read() as Scope | undefined;
}

/**
 * Makes a built-in's call in the current scope. What it gives back is the call's own promise, which
 * counts as handled: nobody need await a call that lost a race.
 */
export function inCurrentScope<T>(
  name: string,
  make: (scope: Scope) => Promise<unknown>,
): Promise<T> {
  try {
    const scope = currentScope();
    if (scope) return make(scope) as Promise<T>;
    throw new EngineError("no_execution", `${name}() was called outside a workflow`);
  } catch (error) {
    return Promise.reject(error);
  }
}
