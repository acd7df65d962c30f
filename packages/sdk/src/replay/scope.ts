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

/** The scope of a built-in that cannot be called outside a workflow. */
export function scopeFor(name: string): Scope {
  const scope = currentScope();
  if (scope) return scope;
  throw new EngineError("no_execution", `${name}() was called outside a workflow`);
}
