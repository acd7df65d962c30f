/**
 * Stacks of failures, beside them: a stack goes into the `meta` of events and into the worker's log,
 * never into what the code receives, which must be the same on every replay (decision 0030).
 */
import type { Failure } from "@engine/contract";
import type { TaskError } from "../../task-error.ts";

const stacks = new WeakMap<Failure, readonly string[]>();
/** Failures that an event has told already. */
const told = new WeakSet<Failure>();
/** What a combinator failed with: its own error names no place. */
const origins = new WeakMap<TaskError, unknown>();

/** A stack with those of its causes is no longer than this. */
const MOST_CHARACTERS = 4_096;

/** Keeps the lines that led to a failure, followed by those that led to its cause. */
export function keepStack(failure: Failure, lines: readonly string[]): Failure {
  const { cause } = failure;
  const below = cause ? stacks.get(cause) : undefined;
  const all = below ? [...lines, `caused by ${cause?.type}`, ...below] : lines;
  if (all.length > 0) stacks.set(failure, all);
  return failure;
}

/** The failure with other facts about it, whose stack stays. */
export function changed(failure: Failure, facts: Partial<Failure>): Failure {
  const copy = { ...failure, ...facts };
  const lines = stacks.get(failure);
  if (lines) stacks.set(copy, lines);
  return copy;
}

/** Its stack as text, a line each. */
export function stackOf(failure: Failure): string | undefined {
  const lines = stacks.get(failure);
  if (!lines) return undefined;
  const text = lines.join("\n");
  if (text.length <= MOST_CHARACTERS) return text;
  return text.slice(0, text.lastIndexOf("\n", MOST_CHARACTERS));
}

type Meta = Readonly<Record<string, unknown>> | undefined;

/** The `meta` of an event that ends a call or an execution with a failure; other facts in it stay. */
export function metaOf(failure: Failure, meta?: Meta): Meta {
  const stack = stackOf(failure);
  return stack === undefined ? meta : { ...meta, stack };
}

/** The `meta` of an event before a call's outcome: only the first that tells a failure has its stack. */
export function metaOfStep(value: unknown): Meta {
  if (typeof value !== "object" || value === null) return undefined;
  const failure = ("error" in value ? value.error : value) as Failure;
  if (!stacks.has(failure) || told.has(failure)) return undefined;
  told.add(failure);
  return metaOf(failure);
}

export function keepOrigin(error: TaskError, origin: unknown): TaskError {
  origins.set(error, origin);
  return error;
}

export function originOf(error: TaskError): unknown {
  return origins.get(error);
}
