import type {
  Durability,
  Duration,
  Failure,
  Risk,
  Runner,
  StoredReference,
} from "@engine/contract";
import type { InputPath } from "./routing/input-path.ts";
import type { Affinity, Limit, OfRoutingInput, Ref, RoutingPolicy } from "./routing/terms.ts";
import type { Schedule } from "./schedule.ts";
import type { StandardSchema } from "./standard-schema.ts";

/** When and how often a failed attempt is repeated (EXE-4, EXE-38). */
export interface RetryOptions {
  /** Attempts in all, the first included: 1 to 1000. Default 1. */
  readonly maxAttempts?: number;
  /** Before the second attempt. Default `"1s"`. */
  readonly delay?: Duration;
  /** Each further delay is this many times the one before. At least 1, default 2. */
  readonly backoff?: number;
  /** No delay is longer. Default `"10m"`. */
  readonly maxDelay?: Duration;
  /**
   * Return false to give up, or a promise of it. Not asked after a {@link TerminalError}. Sees the real
   * clock and real chance, and makes no calls. When it throws, no attempt follows, and the call's
   * failure has what it threw as `details.retry_if`.
   */
  readonly retryIf?: (failure: Failure) => boolean | Promise<boolean>;
}

/** What a task's function needs of its worker while it runs. */
export interface TaskRequestOptions {
  /** Cores; fractions are allowed. */
  readonly cpu?: number;
  /** Bytes, or text such as `"16GiB"` or `"500MB"`. */
  readonly memory?: number | string;
  /** Devices. */
  readonly gpu?: number;
}

/** What a workflow needs of the worker that runs it. */
export interface WorkflowRequestOptions extends TaskRequestOptions {
  /** Bytes, or text such as `"16GiB"` or `"500MB"`. */
  readonly disk?: number | string;
  /** Packages that the worker must have: `name` or `name@<semver range>`. */
  readonly packages?: readonly string[];
}

/** What is kept of a task's results, for every worker of the engine (EXE-49a). */
export interface CacheOptions<Input> {
  /** A result is used this long after it was kept. Default `"24h"`. */
  readonly ttl?: Duration;
  /**
   * What two inputs must have in common to share a result; may be async. Asked once per call, with an
   * input of its own, in the real world; makes no calls. Default: all of the input.
   */
  readonly key?: (input: Input) => unknown;
  /** Change it when the task's results change for equal inputs. Default `"1"`. */
  readonly version?: string;
}

/**
 * A place for outputs outside the engine (EXE-49). Runs on the worker; the engine keeps the
 * reference only, so that objects live and die as their owner wants. Rejecting fails the call. Its
 * functions see the real clock and real timers, as a task's do, and make no calls.
 */
export interface OutputStorage {
  /** Stands in each reference. Not `engine`, `inline`, `file` or `s3`: those are the engine's. */
  readonly type: string;
  /**
   * Keeps a value and answers where. May be called again with the same id after a crash.
   *
   * @param id `<execution_id>/<task_call_id>`.
   */
  store(id: string, value: unknown): Promise<StoredReference>;
  /** Gives back what `store` kept; on any worker, as often as the execution is replayed. */
  retrieve(reference: StoredReference): Promise<unknown>;
}

/** What a task's function, fallback and rollback get beside the input (EXE-5). */
export interface TaskContext {
  readonly executionId: string;
  /** Names this call in the log; the same in every attempt and after every crash. */
  readonly taskCallId: string;
  readonly name: string;
  /** From 1. */
  readonly attempt: number;
  /** Aborts when the attempt times out, a sibling fails or the workflow ends. */
  readonly signal: AbortSignal;
  /** The secrets that the task or its workflow declares, by name, as they are at this attempt. */
  readonly secrets: Readonly<Record<string, unknown>>;
  /** The same for configs. */
  readonly configs: Readonly<Record<string, unknown>>;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** In a fallback or rollback: what went wrong; null when rolling back for a cancel. Else null. */
  readonly failure: Failure | null;
  /** `<execution_id>:<task_call_id>`: hand it to services that recognise repeated requests. */
  readonly idempotencyKey: string;
  /**
   * A token that is valid now, for calls to the engine in the name of the principal that the execution
   * runs as, sent as `Authorization: Bearer <token>`. It reaches this execution and its children, and is
   * good for some time only: ask anew for each call, and never keep or print it. Null with authorization
   * off and in local runs (EXE-5).
   */
  readonly executionToken: () => Promise<string | null>;
}

/**
 * Options of `task()`; nothing needs to be given but a name, unless the function has one (EXE-4).
 */
export interface TaskOptions<Input, Output> {
  /** Default: the function's own name. */
  readonly name?: string;
  readonly description?: string;
  /** Checked before the first attempt; the parsed value is what the function gets. */
  readonly input?: StandardSchema<unknown, Input>;
  /** Checked when the function returns; the parsed value is what the caller gets. */
  readonly output?: StandardSchema<unknown, Output>;
  readonly retry?: RetryOptions;
  /** Per attempt. */
  readonly timeout?: Duration;
  /** Gives the result once every attempt has failed. */
  readonly fallback?: (
    input: Input,
    failure: Failure,
    ctx: TaskContext,
  ) => Output | Promise<Output>;
  /** Undoes what failed attempts did, or the call when it is cancelled; runs before the fallback. */
  readonly rollback?: (input: Input, ctx: TaskContext) => void | Promise<void>;
  /** Hands a result on to later calls with an equal input; `true` for the defaults. Default false. */
  readonly cache?: boolean | CacheOptions<Input>;
  /** Names of the secrets that `ctx.secrets` gets, read at each attempt. */
  readonly secrets?: readonly string[];
  /** Names of the configs that `ctx.configs` gets, read at each attempt. */
  readonly configs?: readonly string[];
  /**
   * Where the output is kept: `"engine"` (default) in the log or, when it is large, in the engine's
   * storage; `"inline"` in the log whatever its size; or a storage of your own.
   */
  readonly outputStorage?: "engine" | "inline" | OutputStorage;
  /**
   * Its function waits, first come first served, until the worker that runs it has as much left for
   * tasks. A local run has no such limit.
   */
  readonly requests?: TaskRequestOptions;
  /** Input and output are shown nowhere; not together with `cache`. Default false. */
  readonly sensitive?: boolean;
  /** True: the right to run the workflow is enough to run this task. Default false. */
  readonly authExempt?: boolean;
  /** What the task may do, for reviewers and agents. Default `"write"`. */
  readonly risk?: Risk;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** Whose turn it is among executions of one priority that wait. */
export interface FairnessOptions<Reads> {
  /** Executions with equal values stand in one line; the lines take turns. */
  readonly key: Ref<Reads>;
  /** How often its turn comes, as against others: 1 to 100. Default 1. */
  readonly weight?: number;
}

/**
 * Where the executions of a workflow may go, and when they start: built with `@engine/sdk/routing`. A
 * local run goes by none of it.
 */
export interface PlacementOptions<Input> {
  /**
   * What a worker must be: labels with their values, or what `require()` returns. While none is, an
   * execution waits. Default: any worker.
   */
  readonly affinity?: Readonly<Record<string, string>> | Affinity<Readable<Input>>;
  /** How the workers that may have an execution are ranked: what `score()` returns. Default: by their load. */
  readonly routing?: RoutingPolicy<Readable<Input>>;
  /** How many executions may be under way, or begin: of `concurrency()`, `rate()` and `limit()`. */
  readonly limits?: readonly Limit<Readable<Input>>[];
  /** From -10 to 10: an execution starts only when none of a higher one can. Default 0. */
  readonly priority?: number;
  /**
   * Values of a key that take turns within one priority, whichever workflows they are of; twice the weight
   * is twice the turns. Default: first come, first served.
   */
  readonly fairness?: FairnessOptions<Readable<Input>>;
}

/**
 * Runs a workflow whenever something happens to an execution of the workflow that declares this. The
 * engine makes a hook of it when the workflow is registered, and keeps that as it is written here; a run
 * in this process makes none.
 *
 * @example
 * ```ts
 * hooks: [
 *   { on: "failed", workflow: "ops/page", principal: "ops-bot" },
 *   { on: ["refund:awaiting_approval"], workflow: "ops/ask", principal: "ops-bot", name: "refund-ask" },
 * ],
 * ```
 */
export interface HookOptions {
  /**
   * What it listens to: a state of the execution such as `"failed"`, what happens to a task such as
   * `"charge:completed"`, or a list of 1 to 64 of them, any of which fires it. `*` stands for any task,
   * state or event. A selector may be written in full, of this workflow only.
   */
  readonly on: string | readonly string[];
  /** What it runs, with the event as input: `<namespace>/<name>`; a name alone is of namespace `default`. */
  readonly workflow: string;
  /** The service account that runs it, by its subject. */
  readonly principal: string;
  /**
   * Names the hook in the engine, where no other may have the name. Default: one that follows from this
   * workflow and from what is above, so that a hook that is changed there becomes another one.
   */
  readonly name?: string;
  /** Tries of a delivery that fail before it is given up: 1 to 100. Default 5. */
  readonly maxAttempts?: number;
}

/** What terms may read of an execution with such an input. */
type Readable<Input> = InputPath<Input> | OfRoutingInput;

/**
 * Options of `workflow()`; nothing needs to be given but a name, unless the body has one (EXE-4).
 */
export interface WorkflowOptions<Input, Output> extends PlacementOptions<NoInfer<Input>> {
  /** Default: the function's own name. */
  readonly name?: string;
  /** Default `"default"`. */
  readonly namespace?: string;
  readonly description?: string;
  /** Checked before the body runs; the parsed value is what it gets. */
  readonly input?: StandardSchema<unknown, Input>;
  /** Checked before the execution completes. */
  readonly output?: StandardSchema<unknown, Output>;
  /** From the first start to the end, parked time included; then the execution fails. */
  readonly timeout?: Duration;
  /**
   * `"transient"` records that the workflow started and ended, not its calls: quicker, but a lost
   * worker fails it, and it cannot wait. Default `"durable"`.
   */
  readonly durability?: Durability;
  /**
   * Where its code runs: `"thread"` shares a thread of the worker with others, `"process"` is a child
   * process of its own, which may block and use memory without harm to others. Default: the worker's.
   */
  readonly runner?: Runner;
  /** With `runner: "process"`: memory of its objects in MiB; a worker may allow less. */
  readonly runnerOptions?: { readonly memoryMb?: number };
  /**
   * Only a worker with as much free gets it, and keeps that much for it while it runs there. A local
   * run has no such limit.
   */
  readonly requests?: WorkflowRequestOptions;
  /** What the engine starts it by: `cron()`, `interval()` or `once()` (EXE-76). */
  readonly schedule?: Schedule;
  /** What the engine runs when something happens to one of its executions (HOOK-47). */
  readonly hooks?: readonly HookOptions[];
  /** Secrets that every task of the workflow gets beside its own. */
  readonly secrets?: readonly string[];
  /** Configs that every task of the workflow gets beside its own. */
  readonly configs?: readonly string[];
  /** Where the output is kept, as for a task. */
  readonly outputStorage?: "engine" | "inline" | OutputStorage;
  readonly metadata?: Readonly<Record<string, unknown>>;
}
