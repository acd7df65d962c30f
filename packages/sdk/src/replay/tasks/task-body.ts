import {
  decode,
  engineFailure,
  type Failure,
  parseDuration,
  type Stored,
  withoutMessage,
} from "@engine/contract";
import type { TaskContext } from "../../options.ts";
import { type Checked, checkSchema, type StandardSchema } from "../../standard-schema.ts";
import { taskError } from "../../task-error.ts";
import { asideOf, placeWorld } from "../calls/aside.ts";
import {
  type BodyWorld,
  type Call,
  CallGroup,
  type Scope,
  scopeWithin,
  type TaskDefinition,
} from "../calls/call.ts";
import { CallIds } from "../calls/call-ids.ts";
import type { Core } from "../core.ts";
import { changed } from "../endings/failure-stacks.ts";
import { copyOf, type StoredOr, storeOr } from "../stored.ts";
import { AttemptContext } from "./attempt-context.ts";
import {
  type Declared,
  declaredFor,
  fetchProvisions,
  NO_PROVISIONS,
  type Provisions,
} from "./task-provisions.ts";
import { countsBefore } from "./task-steps.ts";

const NO_TOKEN = () => Promise.resolve(null);

/** A function of a task: its own, its rollback, its fallback. */
export type TaskFunction = (input: unknown, ctx: TaskContext) => unknown;

/** A task call, as far as running the functions of its task needs it. */
export interface TaskCall {
  readonly call: Call;
  readonly task: TaskDefinition;
  readonly input: Stored;
  readonly declared: Declared;
  /** The clock of the code that made the call, milliseconds since 1970. */
  readonly clock: number;
}

/**
 * Runs functions of a task for one of its calls: with what they are provided with, room for what
 * they request, a time limit, and calls of their own that end with them.
 */
export class TaskBody {
  readonly #core: Core;
  readonly #call: Call;
  readonly #task: TaskDefinition;
  /** The argument as the log has it. */
  readonly started: string;
  /** The parsed argument, until a function has had it. */
  #fresh: { readonly input: unknown } | undefined;
  readonly #clock: number;
  #counts: ReadonlyMap<string, number>;
  readonly #declared: Declared;
  #provisions: Provisions = NO_PROVISIONS;

  /** @param fresh The argument, if this is the first that may give it to a function. */
  constructor(core: Core, of: TaskCall, fresh?: { readonly input: unknown }) {
    this.#core = core;
    this.#declared = declaredFor(of.task, of.declared);
    this.#call = of.call;
    this.#task = of.task;
    this.started = of.input.text;
    this.#fresh = fresh;
    this.#clock = of.clock;
    const { steps = [], children = [] } = of.call.recorded ?? {};
    this.#counts = countsBefore(steps, children);
  }

  /** How many calls of each name earlier functions made. */
  get counts(): ReadonlyMap<string, number> {
    return this.#counts;
  }

  get isAborted(): boolean {
    return this.#call.scope.group.isAborted;
  }

  async attempt(attempt: number): Promise<StoredOr> {
    const turn = this.#call.room?.enter();
    if (turn) await this.#core.parking.keepBack(this.#call, turn);
    const missing = await this.provide(attempt);
    if (missing) return { failure: missing };
    for (let held = this.#leaveToStart(); held; held = this.#leaveToStart()) await held;
    if (this.isAborted) {
      // The call was given up meanwhile: there is no body yet that could be told.
      this.#core.givingUp.cancel(this.#call);
      return { failure: this.abortFailure(attempt) };
    }
    // It may have waited long, or be a retry: what counts is what the principal may do by now (AUTH-35).
    const refused = this.#core.granted.refusal(this.#task, this.of(attempt));
    if (refused) return { failure: refused };
    const { timeout, output: schema } = this.#task.options;
    const context = this.context(attempt, null);
    const timeoutMs = timeout === undefined ? undefined : parseDuration(timeout);
    const { name, fn } = this.#task;
    const late = () =>
      `attempt ${attempt} of ${name} took longer than its timeout of ${typeof timeout === "number" ? `${timeout}ms` : timeout}`;
    const running =
      timeoutMs === undefined
        ? this.#run(context, fn)
        : this.runFor(timeoutMs, context, fn, late());
    this.#call.room?.started(this.#call.bodySettled);
    return this.#checked(await running, schema, attempt);
  }

  #leaveToStart(): Promise<void> | undefined {
    return this.#core.parking.leaveToStart(this.#call);
  }

  /**
   * Runs a function of the task for a limited time; what it gives later is ignored (EXE-41). Time
   * that it waits for the outside world does not count, whether the execution is parked or not.
   */
  async runFor(
    ms: number,
    context: AttemptContext,
    body: TaskFunction,
    message: string,
  ): Promise<StoredOr> {
    const { host } = this.#core.options;
    const call = this.#call;
    let cancelTimer = () => {};
    const end = host.now() - call.waitedMs + ms;
    const late = new Promise<StoredOr>((resolve) => {
      const look = () => {
        if (call.waitingSince !== undefined) return;
        const left = end + call.waitedMs - host.now();
        if (left > 0) {
          cancelTimer = host.setTimer(look, left);
          return;
        }
        const failure = engineFailure("TaskTimeoutError", message, this.of(context.attempt));
        context.abort(taskError(failure));
        resolve({ failure });
      };
      call.onRunsOn = () => {
        cancelTimer();
        look();
      };
      cancelTimer = host.setTimer(look, ms);
    });
    const result = await this.#run(context, body, { late });
    cancelTimer();
    call.onRunsOn = undefined;
    return result;
  }

  /** Runs the rollback that follows a failure; a cancel meanwhile does not run it a second time. */
  undo(failure: Failure, rollback: TaskFunction): Promise<StoredOr> {
    return this.#runAfter(failure, () => {
      const context = this.context(failure.attempts, failure);
      const result = this.#run(context, rollback, { outlivesCancel: true });
      this.#call.undoing = { result, stop: (late) => context.abort(taskError(late)) };
      return result;
    });
  }

  fallBack(failure: Failure, fallback: TaskFunction): Promise<StoredOr> {
    const run = () => this.#run(this.context(failure.attempts, failure), fallback);
    return this.#runAfter(failure, run);
  }

  /** Runs a function once it may start; until then a cancel takes over what is left to do. */
  #runAfter({ attempts }: Failure, run: () => Promise<StoredOr>): Promise<StoredOr> {
    const held = this.#core.parking.leaveToStart(this.#call);
    if (!held) return run();
    return held.then(() =>
      this.#call.isConcluded ? { failure: this.abortFailure(attempts) } : run(),
    );
  }

  /** Runs one function of the task in a scope and group of its own; open calls end with it. */
  async #run(
    context: AttemptContext,
    body: TaskFunction,
    { late, outlivesCancel = false }: { late?: Promise<StoredOr>; outlivesCancel?: boolean } = {},
  ): Promise<StoredOr> {
    const core = this.#core;
    const call = this.#call;
    const group = new CallGroup(call.scope.group);
    const ids = new CallIds(call.id, this.#counts);
    const world = undefined;
    const inside = { ids, group, inTask: true, world, task: call, reach: undefined };
    const scope: Scope = scopeWithin(call, inside);
    call.onAbort = () => {
      if (outlivesCancel && core.cancellation) return;
      context.abort(taskError(this.abortFailure(context.attempt)));
    };
    const result = this.settled(context.attempt, async () =>
      this.withInput((input) => core.options.host.runInScope(scope, () => body(input, context))),
    );
    call.bodySettled = result;
    const first = await (late ? Promise.race([result, late]) : result);
    this.#counts = ids.counts;
    if (group.open.size) await new Promise<void>((done) => core.givingUp.abandon(group, done));
    else core.givingUp.closeCombinators(group);
    group.abort();
    return first;
  }

  async settled(attempts: number, body: () => Promise<unknown>): Promise<StoredOr> {
    try {
      return storeOr(this.#core, await body(), "output", this.of(attempts));
    } catch (error) {
      return { failure: this.told(this.#core.failures.from(error, this.of(attempts))) };
    }
  }

  async #checked(result: StoredOr, schema: unknown, attempts: number): Promise<StoredOr> {
    if (!schema || !result.stored) return result;
    const { value } = result.stored;
    const checked = await this.aside("the output schema", () =>
      checkSchema(schema as StandardSchema, value),
    );
    if (checked.issues === undefined)
      return storeOr(this.#core, checked.value, "output", this.of(attempts));
    const message = `output of ${this.#task.name} does not fit its schema: ${checked.issues}`;
    return { failure: this.told(engineFailure("InvalidOutputError", message, this.of(attempts))) };
  }

  /** Why the task's schema refuses the argument; undefined when it takes it. */
  async checkInput(): Promise<Failure | undefined> {
    const schema = this.#task.options.input as StandardSchema;
    const checked = await this.#parsed(schema);
    if (checked.issues === undefined) {
      this.#fresh = { input: checked.value };
      return undefined;
    }
    const message = `input of ${this.#task.name} does not fit its schema: ${checked.issues}`;
    return this.told(engineFailure("InvalidInputError", message, this.of(1)));
  }

  /** A failure as code and log are told it: that of a sensitive task says nothing of its values. */
  told(failure: Failure): Failure {
    return this.#task.options.sensitive ? changed(failure, withoutMessage(failure)) : failure;
  }

  /**
   * The argument, parsed by the task's schema if it has one. Every function gets a value of its own, so
   * that a function which changes it changes it for no other.
   */
  freshInput(): unknown {
    const fresh = this.#fresh;
    this.#fresh = undefined;
    if (fresh) return fresh.input;
    const schema = this.#task.options.input as StandardSchema | undefined;
    if (!schema) return decode(JSON.parse(this.started));
    return this.#parsed(schema).then((checked) => {
      if (checked.issues === undefined) return checked.value;
      throw new Error(`the input schema of ${this.#task.name} refuses what it took before`);
    });
  }

  /** Parses in a world that is always the same: a rollback has the defaults of its attempt. */
  #parsed(schema: StandardSchema): Promise<Checked> {
    const world = placeWorld(this.#core, `${this.#call.id}/input`, this.#clock);
    const input = decode(JSON.parse(this.started));
    return this.aside("the input schema", () => checkSchema(schema, input), world);
  }

  /** Runs a function of the author's that is no function of the task (decision 0020). */
  aside<T>(what: string, work: () => T, world?: BodyWorld): T {
    const of = `${what} of task ${this.#task.name}`;
    return this.#core.options.host.runInScope(asideOf(this.#call.scope, of, world), work);
  }

  /** A schema takes a moment; without one the function runs at once. */
  withInput(run: (input: unknown) => unknown): unknown {
    const input = this.freshInput();
    return input instanceof Promise ? input.then(run) : run(input);
  }

  context(attempt: number, failure: Failure | null): AttemptContext {
    const { host, info, port } = this.#core.options;
    return new AttemptContext({
      host,
      executionToken: port.services.executionToken ?? NO_TOKEN,
      executionId: info.execution_id,
      taskCallId: this.#call.id,
      name: this.#task.name,
      metadata: this.#task.options.metadata,
      attempt,
      failure: failure && copyOf(failure),
      ...this.#provisions,
    });
  }

  abortFailure(attempts: number): Failure {
    const message = `${this.#call.id} was given up: a sibling failed or the workflow ended`;
    return engineFailure("CancelledError", message, this.of(attempts));
  }

  of(attempts: number): { attempts: number; task_call_id: string } {
    return { attempts, task_call_id: this.#call.id };
  }

  /** Fetches what the attempt has declared; the failure if something does not exist. */
  async provide(attempts: number): Promise<Failure | undefined> {
    // Most tasks declare nothing, and start without waiting.
    if (this.#declared.secrets.length + this.#declared.configs.length === 0) return undefined;
    const { services } = this.#core.options.port;
    const fetched = await fetchProvisions(this.#task.name, this.#declared, services);
    if (fetched.failure) return { ...fetched.failure, ...this.of(attempts) };
    this.#provisions = fetched.provisions;
    return undefined;
  }
}
