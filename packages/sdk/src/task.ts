import { checkTaskCopyOptions, checkTaskOptions, EngineError } from "@engine/contract";
import { refuseInvalid } from "./definition.ts";
import type { TaskContext, TaskOptions } from "./options.ts";
import type { TaskDefinition } from "./replay/calls/call.ts";
import { calledAside, currentScope } from "./replay/calls/scope.ts";
import type { SchemaInput, SchemaOutput, StandardSchema } from "./standard-schema.ts";

/** A step of a workflow: called like a function, recorded once, never run again when recorded. */
export interface Task<Input, Output> {
  (...args: undefined extends Input ? [input?: Input] : [input: Input]): Promise<Output>;
  readonly name: string;
  readonly options: TaskOptions<unknown, unknown>;
  /** The raw function, for tests and for calls outside a workflow. */
  readonly fn: (input: never, ctx: TaskContext) => unknown;
  /** A copy with these options replaced, under the same name. */
  with(options: Omit<TaskOptions<Input, Output>, "name">): Task<Input, Output>;
}

type Fn<Input, Output> = (input: Input, ctx: TaskContext) => Output | Promise<Output>;

/**
 * Defines a task: a function whose result is recorded when a workflow calls it. It gets one
 * argument and a {@link TaskContext}; argument and result must have a stored form (EXE-47).
 *
 * Runs at least once, and again only for a retry or when its worker was lost before the result was
 * recorded; use `ctx.idempotencyKey` towards services that must not see a request twice.
 *
 * @throws EngineError `invalid_definition` for an unknown or wrong option (EXE-4). Calling it
 *   outside a workflow rejects with `no_execution`.
 * @example
 * ```ts
 * const charge = task(
 *   { name: "charge", retry: { maxAttempts: 4, delay: "1s" }, timeout: "30s" },
 *   async (order: Order, { idempotencyKey, signal }) => pay(order, { idempotencyKey, signal }),
 * );
 * ```
 */
export function task<S extends StandardSchema, Output>(
  options: Omit<TaskOptions<SchemaOutput<S>, Output>, "input"> & { readonly input: S },
  fn: Fn<SchemaOutput<S>, Output>,
): Task<SchemaInput<S>, Output>;
export function task<Input = undefined, Output = unknown>(
  options: TaskOptions<Input, Output>,
  fn: Fn<Input, Output>,
): Task<Input, Output>;
/** Short form: the function's own name, no options. */
export function task<Input = undefined, Output = unknown>(
  fn: Fn<Input, Output>,
): Task<Input, Output>;
export function task(first: unknown, second?: unknown): unknown {
  const [options, fn] = typeof first === "function" ? [{}, first] : [first ?? {}, second];
  const given = options as TaskOptions<unknown, unknown>;
  const body = fn as TaskDefinition["fn"] | undefined;
  const name = given.name ?? body?.name ?? "";
  refuseInvalid(`task ${name || "without a name"}`, checkTaskOptions({ ...given }, body?.name));
  if (typeof body !== "function") {
    throw new EngineError("invalid_definition", `task ${name} needs a function to run`);
  }
  return callable({ name, options: given, fn: body });
}

function callable(definition: TaskDefinition): Task<unknown, unknown> {
  const { name } = definition;
  const call = (input?: unknown) => {
    const scope = currentScope();
    if (scope?.aside !== undefined) {
      return Promise.reject(calledAside(`task ${name}`, scope.aside));
    }
    if (scope) return scope.runtime.task(scope, definition, input);
    const message = `task ${name} was called outside a workflow; call it from one, or call ${name}.fn(input, ctx) directly`;
    return Promise.reject(new EngineError("no_execution", message));
  };
  const copy = (options: Omit<TaskOptions<unknown, unknown>, "name">) => {
    refuseInvalid(`task ${name}`, checkTaskCopyOptions({ ...options }, { ...definition.options }));
    return callable({ ...definition, options: { ...definition.options, ...options } });
  };
  Object.defineProperty(call, "name", { value: name });
  const members = { options: definition.options, fn: definition.fn, with: copy };
  return Object.assign(call, members) as Task<unknown, unknown>;
}
