// biome-ignore-all lint/style/noRestrictedGlobals: now() gives a Date made from the host's clock, sleep() takes one
import {
  type Duration,
  isName,
  isServiceName,
  NAME_RULE,
  nearest,
  parseDuration,
  parseWorkflowName,
  type RoutingInput,
  SERVICE_RULE,
} from "@engine/contract";
import type { ValueSpec } from "./replay/calls/call.ts";
import { currentScope, inCurrentScope, inTaskScope } from "./replay/calls/scope.ts";
import { type AnyWorkflow, isWorkflow, type Workflow } from "./workflow.ts";

/** What a pause shows, and what ends it besides an answer: at most one of the last three. */
export interface PauseOptions {
  /** Shown to the people and programs that resume it. */
  readonly output?: unknown;
  /** Ends the pause at this instant; one that is past ends it at once. */
  readonly until?: Date | string;
  /** Ends the pause after this time. */
  readonly after?: Duration;
  /** Ends the pause when the execution with this id has ended. */
  readonly onComplete?: string;
}

/**
 * Stops here until somebody resumes the execution, for minutes or months; it holds no worker slot.
 * Returns the resume input, JSON `null` when it was resumed without one, or `undefined` when
 * `until`, `after` or `onComplete` ended it (EXE-51).
 *
 * @param name Tells this pause from others that are open at the same time.
 * @throws TypeError when a pause of that name is open, or for two of `until`, `after`, `onComplete`.
 * @example
 * ```ts
 * const answer = await pause<{ ok: boolean }>("review", { output: draft, after: "2d" });
 * if (answer === undefined) return "nobody looked at it";
 * ```
 */
export function pause<Input = unknown>(
  name: string,
  options?: PauseOptions & { until?: undefined; after?: undefined; onComplete?: undefined },
): Promise<Input>;
export function pause<Input = unknown>(
  name: string,
  options: PauseOptions,
): Promise<Input | undefined>;
export function pause<Input = unknown>(
  name: string,
  options: PauseOptions = {},
): Promise<Input | undefined> {
  return inCurrentScope("pause", (scope) => {
    checkLabel("pause", name);
    checkOptions("pause", options, ["output", "until", "after", "onComplete"]);
    const { output, until, after, onComplete } = options;
    const wakes = Object.entries({ until, after, onComplete }).filter(([, v]) => v !== undefined);
    if (wakes.length > 1) {
      const names = wakes.map(([key]) => key).join(" and ");
      throw new TypeError(`pause("${name}") takes one of until, after, onComplete; got ${names}`);
    }
    if (onComplete !== undefined && typeof onComplete !== "string") {
      throw new TypeError(`option onComplete of pause("${name}") must be the id of an execution`);
    }
    return scope.runtime.pause(scope, {
      name,
      output,
      until: until === undefined ? undefined : instantOf(`option until of pause("${name}")`, until),
      after: after === undefined ? undefined : positive(`option after of pause("${name}")`, after),
      onComplete,
    });
  });
}

/**
 * Waits, durably: a short time in place, a long one without a worker slot, through crashes and
 * deploys. Never ends early. An instant that is past ends it at once.
 *
 * @throws TypeError for a negative duration or an invalid date.
 * @example
 * ```ts
 * await sleep("3d");
 * await sleep(new Date(order.dueAt));
 * ```
 */
export function sleep(duration: Duration | Date): Promise<void> {
  return inCurrentScope("sleep", (scope) => {
    if (duration instanceof Date) {
      return scope.runtime.sleep(scope, { until: instantOf("sleep()", duration) });
    }
    const ms = parseDuration(duration);
    if (ms === undefined) {
      throw new TypeError(
        `sleep() takes a Date or a duration of up to 365000d: milliseconds from 0, or a number with ms, s, m, h or d such as "1.5s"; got ${String(duration)}`,
      );
    }
    return scope.runtime.sleep(scope, { ms: ms === 0 ? 0 : Math.max(1, ms) });
  });
}

/**
 * The next signal of that name that nobody has taken: sent before, or waited for without a worker
 * slot. `undefined` when `timeout` has passed first; the signal then stays for a later call. Of
 * several calls that wait for one name the oldest gets it.
 *
 * @throws TypeError for a name that is none, or a timeout that is no duration above 0.
 * @example
 * ```ts
 * const payment = await signal<Payment>("paid", { timeout: "1d" });
 * ```
 */
export function signal<Payload = unknown>(
  name: string,
  options: { readonly timeout?: Duration } = {},
): Promise<Payload | undefined> {
  return inCurrentScope("signal", (scope) => {
    checkLabel("signal", name);
    checkOptions("signal", options, ["timeout"]);
    const { timeout } = options;
    const ms =
      timeout === undefined ? undefined : positive(`option timeout of signal("${name}")`, timeout);
    return scope.runtime.signal(scope, name, ms);
  });
}

/** How a child is started, and whether its end is waited for. */
export interface CallOptions {
  /** A version of the target. Default: the one registered with the caller's, else the latest. */
  readonly version?: number;
  /** False: give the child's execution id as soon as it exists. Default true. */
  readonly wait?: boolean;
  /** The child goes on when this execution is cancelled. Default false. */
  readonly detach?: boolean;
  /** A label for the child. */
  readonly name?: string;
  /**
   * Values that the child's affinity and routing may read: text, numbers, booleans, null and objects of
   * these. Nothing else ever reads them: they are in no log, and the child does not see them.
   */
  readonly routingInput?: RoutingInput;
}

/**
 * Runs another workflow as a child execution with a log of its own, and gives its output. While it
 * waits this execution holds no worker slot. One child per call, however often it is replayed.
 *
 * @param target A workflow, or its name: `"ns/name"`, or `"name"` in namespace `default`.
 * @throws ChildFailedError, ChildCancelledError, NotFoundError, DepthLimitError, InvalidInputError
 * @example
 * ```ts
 * const receipt = await call(checkout, order);
 * const id = await call("shop/report", { day }, { wait: false, detach: true });
 * ```
 */
export function call<Input, Output>(
  target: Workflow<Input, Output>,
  input: Input | undefined,
  options: CallOptions & { readonly wait: false },
): Promise<string>;
export function call<Input, Output>(
  target: Workflow<Input, Output>,
  input?: Input,
  options?: CallOptions & { readonly wait?: true },
): Promise<Output>;
export function call(
  target: string,
  input: unknown,
  options: CallOptions & { readonly wait: false },
): Promise<string>;
export function call<Output = unknown>(
  target: string,
  input?: unknown,
  options?: CallOptions & { readonly wait?: true },
): Promise<Output>;
export function call(
  target: AnyWorkflow | string,
  input?: unknown,
  options: CallOptions = {},
): Promise<unknown> {
  return inCurrentScope("call", (scope) => {
    checkOptions("call", options, ["version", "wait", "detach", "name", "routingInput"]);
    const { version, wait = true, detach = false, name, routingInput } = options;
    if (version !== undefined && !(Number.isInteger(version) && version >= 1)) {
      throw new TypeError(`option version of call() must be an integer from 1; got ${version}`);
    }
    const workflow = targetOf(target);
    const storage = isWorkflow(target) ? target.options.outputStorage : undefined;
    const outputStorage = typeof storage === "object" ? storage : undefined;
    const child = { workflow, input, version, wait, detach, name, outputStorage, routingInput };
    return scope.runtime.child(scope, child);
  });
}

function targetOf(target: AnyWorkflow | string): string {
  if (isWorkflow(target)) return target.qualifiedName;
  const names = typeof target === "string" ? parseWorkflowName(target) : undefined;
  if (names) return `${names.namespace}/${names.name}`;
  throw new TypeError(
    `call() takes a workflow or its name, "ns/name" or "name"; got ${typeof target === "string" ? JSON.stringify(target) : typeof target}`,
  );
}

/**
 * A config's value, recorded: later calls of this execution may see another value, replays do not.
 *
 * @throws ConfigMissingError when it is not set.
 * @example
 * ```ts
 * const { rate } = await getConfig<{ rate: number }>("vat");
 * ```
 */
export function getConfig<Value = unknown>(key: string): Promise<Value> {
  return inCurrentScope("getConfig", (scope) => {
    if (typeof key !== "string" || key === "") {
      throw new TypeError("getConfig() takes the key of a config");
    }
    return scope.runtime.config(scope, key);
  });
}

/**
 * The current time, recorded: every replay gets the same. In a body `Date.now()` replays too, but
 * stands at the newest event it has received; this one asks the worker's clock.
 */
export function now(): Promise<Date> {
  return recorded("now", (host) => new Date(host.now()));
}

/**
 * A number from 0 up to 1, or an integer from `min` to `max`, both included; recorded.
 *
 * @throws TypeError unless both are integers and `min` is not above `max`.
 */
export function random(min?: number, max?: number): Promise<number> {
  if (min === undefined && max === undefined) {
    return recorded("random", (host) => host.random());
  }
  return inCurrentScope("random", (scope) => {
    const [low, high] = [Number(min), Number(max)];
    if (!Number.isSafeInteger(low) || !Number.isSafeInteger(high) || low > high) {
      throw new TypeError(`random(min, max) needs integers with min <= max; got ${min} and ${max}`);
    }
    return scope.runtime.recordedValue(scope, {
      kind: "random",
      started: { min: low, max: high },
      take: (host) => low + Math.floor(host.random() * (high - low + 1)),
    });
  });
}

/** A random UUID, version 4, recorded. */
export function uuid(): Promise<string> {
  return recorded("uuid", (host) => host.uuid());
}

/**
 * Streams a value to the viewers of the execution. Never recorded, returns at once, never throws;
 * costs nothing while there are none. Outside a task it does nothing (PRG-1, PRG-2). A value over
 * 64 KiB as JSON, or without a stored form, is dropped.
 *
 * @example
 * ```ts
 * for (const [i, page] of pages.entries()) {
 *   await load(page);
 *   progress({ done: i + 1, of: pages.length });
 * }
 * ```
 */
export function progress(value: unknown): void {
  const scope = currentScope();
  scope?.runtime.progress(scope, value);
}

/**
 * The path of a local socket that the worker offers (`[engine.workers.services]`) and that is granted to
 * it at this moment. Ask at each connect: a grant may come and go while a task runs. Only in functions
 * of tasks; nothing is recorded. In a local run (`workflow.run`) nobody grants anything: there every
 * socket of the process's own configuration is given, as its secrets are.
 *
 * @throws ServiceNotGrantedError when the worker does not offer it, or it is not granted.
 * @example
 * ```ts
 * const infer = task({ name: "infer" }, async (prompt: string) =>
 *   ask(serviceSocket("inference"), prompt),
 * );
 * ```
 */
export function serviceSocket(name: string): string {
  return inTaskScope("serviceSocket", (scope) => {
    if (typeof name !== "string" || !isServiceName(name)) {
      throw new TypeError(`serviceSocket() takes a name: ${SERVICE_RULE}; got ${String(name)}`);
    }
    return scope.runtime.serviceSocket(name);
  });
}

function recorded<T>(kind: ValueSpec["kind"], take: ValueSpec["take"]): Promise<T> {
  const spec: ValueSpec = { kind, started: null, take };
  return inCurrentScope(kind, (scope) => scope.runtime.recordedValue(scope, spec));
}

function checkLabel(builtIn: string, name: unknown): void {
  if (typeof name === "string" && isName(name) && !name.startsWith("engine.")) return;
  throw new TypeError(`${builtIn}() needs a name: ${NAME_RULE}, not beginning with "engine."`);
}

function checkOptions(builtIn: string, options: object, known: readonly string[]): void {
  const unknown = Object.keys(options).find((key) => !known.includes(key));
  if (unknown === undefined) return;
  const near = nearest(unknown, known);
  const hint = near === undefined ? "" : `; did you mean ${near}?`;
  throw new TypeError(
    `${builtIn}() has no option "${unknown}"${hint} (it takes: ${known.join(", ")})`,
  );
}

function instantOf(what: string, value: Date | string): number {
  const ms = new Date(value).getTime();
  if (Number.isNaN(ms)) throw new TypeError(`${what} must be a date; got ${String(value)}`);
  return ms;
}

function positive(what: string, value: Duration): number {
  const ms = parseDuration(value);
  if (ms !== undefined && ms > 0) return Math.max(1, ms);
  throw new TypeError(
    `${what} must be a duration above 0 and up to 365000d, such as "2d"; got ${String(value)}`,
  );
}
