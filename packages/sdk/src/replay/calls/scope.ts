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

/** Code that runs beside a workflow's makes no calls: no replay would find them at their place. */
export function calledAside(name: string, aside: string): EngineError {
  return new EngineError(
    "no_execution",
    `${name} was called in ${aside}: calls are made by a workflow's body and by functions of tasks; do it there and pass on what it gives`,
  );
}

/**
 * Makes a built-in's call in the current scope. What it gives back is the call's own promise, which
 * counts as handled: a body need not await a call that lost a race.
 */
export function inCurrentScope<T>(
  name: string,
  make: (scope: Scope) => Promise<unknown>,
): Promise<T> {
  try {
    const scope = currentScope();
    if (!scope) throw new EngineError("no_execution", `${name}() was called outside a workflow`);
    if (scope.aside !== undefined) throw calledAside(`${name}()`, scope.aside);
    return make(scope) as Promise<T>;
  } catch (error) {
    const refused = Promise.reject<T>(error);
    refused.catch(() => {});
    return refused;
  }
}

/** Carries out at once what only the functions of tasks may ask for; nothing of it is recorded. */
export function inTaskScope<T>(name: string, ask: (scope: Scope) => T): T {
  const scope = currentScope();
  if (scope?.aside !== undefined) throw calledAside(`${name}()`, scope.aside);
  if (scope?.inTask) return ask(scope);
  const where = scope ? "in a workflow's body" : "outside a workflow";
  throw new EngineError(
    "no_execution",
    `${name}() was called ${where}: what it gives is this worker's alone and is not recorded; call it in the function of a task`,
  );
}
