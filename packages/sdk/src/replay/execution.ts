import { decode, engineFailure, type Failure } from "@engine/contract";
import { definedFacts } from "../defined-facts.ts";
import { type Checked, checkSchema, type StandardSchema } from "../standard-schema.ts";
import type { AnyWorkflow } from "../workflow.ts";
import { bodyContext } from "./body-context.ts";
import { asideOf, placeWorld } from "./calls/aside.ts";
import type { BodyWorld, Scope } from "./calls/call.ts";
import { CallIds } from "./calls/call-ids.ts";
import { Core } from "./core.ts";
import type { Overtaken } from "./log/run-ahead.ts";
import type { Ended, RunningExecution, RunOptions } from "./port.ts";
import { CallRuntime } from "./runtime.ts";
import { keepOutput, storeOr } from "./stored.ts";

/**
 * Runs a copy of an execution: replays its log through the workflow's body and goes on from there.
 * A fresh execution and one that comes back after a crash, a pause or a move take the same path; so
 * does one whose body ran ahead of a log that went another way.
 */
export function startExecution(workflow: AnyWorkflow, options: RunOptions): RunningExecution {
  let core = begin(workflow, options, goOn);
  let end = Promise.withResolvers<Ended>();
  void core.ended.then((how) => end.resolve(how));
  return {
    get ended() {
      return end.promise;
    },
    wake(events, listen) {
      core.progress.isWanted = listen;
      const woken = core.wake(events);
      if (!woken) return undefined;
      end = Promise.withResolvers<Ended>();
      void woken.then((how) => end.resolve(how));
      return end.promise;
    },
    get head() {
      return core.outbox.head;
    },
    deliver: (base_seq, events) => core.deliver(base_seq, events),
    listen(on) {
      core.progress.isWanted = on;
    },
    hold: (on) => core.parking.hold(on),
    setRights: (rights) => core.setRights(rights),
    stop: (reason) => core.stop(reason),
  };

  /** The core that ran ahead never ends: another one takes its place. */
  function goOn({ history, pushed }: Overtaken): void {
    const { isWanted: listen } = core.progress;
    const { isHeld: hold } = core.parking;
    const { rights } = core.granted;
    core = begin(workflow, { ...options, history, listen, hold, rights }, goOn);
    void core.ended.then((how) => end.resolve(how));
    for (const { base_seq, events } of pushed) core.deliver(base_seq, events);
  }
}

function begin(
  workflow: AnyWorkflow,
  options: RunOptions,
  onOvertaken: (by: Overtaken) => void,
): Core {
  const core = new Core(options, definedFacts(workflow).timeout_ms ?? null, onOvertaken);
  // Code that is cancelled before it began does not begin: there is nothing to unwind.
  if (!core.journal.isCancelledUnseen) announce(core);
  void new Body(core, workflow).run();
  return core;
}

/** The first thing a copy says: that it runs, under the claim that it was given. */
function announce(core: Core): void {
  const { journal } = core;
  if (!journal.started) {
    const { input, version, bundle } = core.options.info;
    // Read once: two readings would differ now and then.
    const time = core.outbox.time();
    const facts = {
      ...(time !== core.clock && { clock: core.clock }),
      // A divergence names the code that the log was made by.
      ...(version !== null && { version, ...(bundle !== null && { bundle }) }),
    };
    const meta = Object.keys(facts).length > 0 ? facts : undefined;
    core.emit(undefined, "WORKFLOW_STARTED", JSON.stringify(input), { time, meta });
  } else if (journal.isClaimUnanswered) {
    const cause = journal.resuming?.meta?.["cause"] ?? "recover";
    const input = JSON.stringify(journal.resuming?.value ?? null);
    core.emit(undefined, "WORKFLOW_RESUMED", input, { meta: { cause } });
  }
}

type BodyResult = { output: unknown; failure?: never } | { failure: Failure };

/** The workflow's own function: from its input to the terminal event. */
class Body {
  readonly #core: Core;
  readonly #workflow: AnyWorkflow;
  readonly #scope: Scope;

  constructor(core: Core, workflow: AnyWorkflow) {
    this.#core = core;
    this.#workflow = workflow;
    const { secrets = [], configs = [] } = workflow.options;
    const runtime = new CallRuntime(core, { secrets, configs });
    this.#scope = {
      runtime,
      parent: undefined,
      ids: new CallIds(null),
      group: core.root,
      inTask: false,
      world: runtime.world,
      task: undefined,
    };
  }

  async run(): Promise<void> {
    const core = this.#core;
    if (core.journal.isCancelledUnseen) {
      core.replay();
      core.whenLive(() => core.bodyIsOver(() => {}));
      return;
    }
    const input = decode(core.options.input ?? core.options.info.input);
    const schema = this.#workflow.options.input as StandardSchema | undefined;
    const checked = schema ? await this.#checked("input", schema, input) : { value: input };
    if (checked.issues !== undefined) {
      const message = `input of ${this.#workflow.qualifiedName} does not fit its schema: ${checked.issues}`;
      core.replay();
      return this.#over({ failure: engineFailure("InvalidInputError", message) });
    }
    const context = bodyContext(core, this.#workflow);
    const body = async () => this.#workflow.body(checked.value as never, context);
    const result = core.options.host.runInScope(this.#scope, body).then(
      (output) => this.#over({ output }),
      (error: unknown) => this.#over({ failure: core.failures.from(error) }),
    );
    core.replay();
    await result;
  }

  /** A schema of the workflow sees the same world in every pass, as no log holds what it gives. */
  #checked(which: "input" | "output", schema: StandardSchema, value: unknown): Promise<Checked> {
    const core = this.#core;
    const world = placeWorld(core, which, core.log.time);
    return this.#aside(`the ${which} schema`, () => checkSchema(schema, value), world);
  }

  #aside<T>(what: string, work: () => T, world?: BodyWorld): T {
    const of = `${what} of workflow ${this.#workflow.qualifiedName}`;
    return this.#core.options.host.runInScope(asideOf(this.#scope, of, world), work);
  }

  /** The body is over: what it left open is given up, then the terminal event is written (EXE-33). */
  #over(result: BodyResult): void {
    const core = this.#core;
    core.bodyIsOver(() => {
      if (core.root.open.size || core.givingUp.combinators.size) {
        this.#warnOfOpen();
        core.givingUp.abandon(core.root, () => void this.#terminate(result));
      } else void this.#terminate(result);
    });
  }

  /** Warns of calls that are open when the body ends: most often an `await` was forgotten. */
  #warnOfOpen(): void {
    const { host, info } = this.#core.options;
    const open = [...this.#core.root.open].filter((c) => !c.isGivenUp).map(({ id }) => id);
    if (open.length === 0) return;
    const message = `workflow ${this.#workflow.qualifiedName} ended while ${open.join(", ")} ran: await every call, or collect them with parallel(); what is still open is cancelled`;
    host.log("warn", message, { execution_id: info.execution_id });
  }

  async #terminate(result: BodyResult): Promise<void> {
    const core = this.#core;
    if (result.failure) return core.terminateFailed(result.failure);
    const { output } = result;
    const schema = this.#workflow.options.output as StandardSchema | undefined;
    const checked = schema ? await this.#checked("output", schema, output) : { value: output };
    if (checked.issues !== undefined) {
      const message = `output of ${this.#workflow.qualifiedName} does not fit its schema: ${checked.issues}`;
      const failure = engineFailure("InvalidOutputError", message);
      return core.terminateFailed(failure);
    }
    const { stored, failure } = storeOr(core, checked.value, "output");
    if (failure) return core.terminateFailed(failure);
    const { outputStorage: storage } = this.#workflow.options;
    // A storage of the user's is given nothing before all that led to it is durable.
    if (typeof storage === "object") await core.ahead.caughtUp();
    const run = <T>(work: () => T) => this.#aside("the outputStorage", work);
    const kept = await keepOutput(core, stored, core.options.info.execution_id, { storage, run });
    if (kept.failure) core.terminateFailed(kept.failure);
    else core.terminate("COMPLETED", kept.text);
  }
}
