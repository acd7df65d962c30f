import { checkWorkflowOptions, DEFAULT_NAMESPACE } from "@engine/contract";
import type { WorkflowContext } from "./context.ts";
import { refuseInvalid } from "./definition.ts";
import { type LocalRunOptions, localHost } from "./local-host.ts";
import type { PlacementOptions, WorkflowOptions } from "./options.ts";
import type { RunResult } from "./run-result.ts";
import type { SchemaInput, SchemaOutput, StandardSchema } from "./standard-schema.ts";

const brand = Symbol.for("engine.workflow");

/** The workflows this program has defined, shared by all copies of the package in it. */
const key = Symbol.for("engine.workflows");
const shared = globalThis as { [key]?: Map<string, AnyWorkflow> };
shared[key] ??= new Map();
const defined: Map<string, AnyWorkflow> = shared[key];

/** A workflow: an async function whose finished steps survive crashes (EXE-2). */
export interface Workflow<Input, Output> {
  readonly name: string;
  readonly namespace: string;
  /** `<namespace>/<name>`: how everything else refers to it. */
  readonly qualifiedName: string;
  readonly options: WorkflowOptions<unknown, unknown>;
  /** The raw function, as the runtime calls it. */
  readonly body: (input: never, ctx: WorkflowContext) => unknown;
  /**
   * Runs it in this process against the configured database, without a server. Resolves when the
   * execution has ended or paused; a failed workflow does not reject. With `executionId` it
   * continues that execution, `input` then being what its pause returns. Needs
   * `import "@engine/local"` once, else it rejects with `no_local_host` (EXE-12 to EXE-15).
   */
  run(input?: Input, options?: { readonly executionId?: undefined }): Promise<RunResult<Output>>;
  run(
    input: unknown,
    options: LocalRunOptions & { readonly executionId: string },
  ): Promise<RunResult<Output>>;
  /** Never set; carry the types for typed clients and for {@link call}. */
  readonly "~input"?: Input;
  readonly "~output"?: Output;
}

/** A workflow whose types do not matter. */
// biome-ignore lint/suspicious/noExplicitAny: stands for a workflow of whatever types
export type AnyWorkflow = Workflow<any, any>;

type Body<Input, Output> = (input: Input, ctx: WorkflowContext<Input>) => Output | Promise<Output>;

/**
 * Defines a workflow. The body calls tasks; what they return is recorded, so that after a crash, a
 * pause of days or a move to another worker the body runs again from the top and every finished
 * task returns what it returned the first time.
 *
 * @throws EngineError `invalid_definition` for an unknown or wrong option (EXE-4).
 * @example
 * ```ts
 * export const checkout = workflow({ name: "checkout", namespace: "shop" }, async (order: Order) => {
 *   const paid = await charge(order);
 *   const answer = await pause<{ ok: boolean }>("review", { output: paid });
 *   return answer.ok ? paid : null;
 * });
 * ```
 */
export function workflow<S extends StandardSchema, Output>(
  options: WorkflowOptions<unknown, Output> & { readonly input: S } & PlacementOptions<
      SchemaInput<S>
    >,
  body: Body<SchemaOutput<S>, Output>,
): Workflow<SchemaInput<S>, Output>;
export function workflow<Input = undefined, Output = unknown>(
  options: WorkflowOptions<Input, Output>,
  body: Body<Input, Output>,
): Workflow<Input, Output>;
/** Short form: the function's own name, namespace `default`. */
export function workflow<Input = undefined, Output = unknown>(
  body: Body<Input, Output>,
): Workflow<Input, Output>;
export function workflow(
  first: WorkflowOptions<unknown, unknown> | Body<unknown, unknown>,
  second?: Body<unknown, unknown>,
): AnyWorkflow {
  const [options, body] =
    typeof first === "function" ? [{}, first] : [first, second as Body<unknown, unknown>];
  const name = options.name ?? body?.name ?? "";
  refuseInvalid(
    `workflow ${name || "without a name"}`,
    checkWorkflowOptions({ ...options }, body?.name),
  );
  const namespace = options.namespace ?? DEFAULT_NAMESPACE;
  const definition: AnyWorkflow = {
    name,
    namespace,
    qualifiedName: `${namespace}/${name}`,
    options,
    body: body as AnyWorkflow["body"],
    run: async (input: unknown, runOptions: LocalRunOptions = {}) =>
      localHost().run(definition, input, runOptions),
  };
  Object.defineProperty(definition, brand, { value: true });
  Object.freeze(definition);
  defined.set(definition.qualifiedName, definition);
  return definition;
}

/** Whether a value was made by {@link workflow}, of this copy of the package or another. */
export function isWorkflow(value: unknown): value is AnyWorkflow {
  return typeof value === "object" && value !== null && brand in value;
}

/** The workflow defined last under a qualified name: what a local run finds the target of `call` by. */
export function findWorkflow(qualifiedName: string): AnyWorkflow | undefined {
  return defined.get(qualifiedName);
}
