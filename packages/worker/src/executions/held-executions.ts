import type {
  Assignment,
  ExecutionLimits,
  Failure,
  ReleaseReason,
  WorkerFrame,
} from "@engine/contract";
import { isTerminal, placeOf } from "@engine/contract";
import type { Delta } from "@engine/sdk/node";
import { ran } from "../failpoints.ts";
import { WorkerEnded } from "../link/own-session.ts";
import { MachineTrouble } from "../machine/machine-trouble.ts";
import { HashMismatch, type ModuleCache } from "../machine/module-cache.ts";
import type { BuiltinMetrics } from "../metrics/builtin-metrics.ts";
import { loadFailure } from "../program/load-workflow.ts";
import type { FromRunner, LogText } from "../runners/messages.ts";
import type { Runner } from "../runners/runner.ts";
import type { RunnerPool } from "../runners/runner-pool.ts";
import { hasCode, isTransient, messageOf } from "../transient.ts";
import type { World } from "../world.ts";
import type { CheckpointLanes } from "./checkpoint-lanes.ts";
import { begin, type Copies, type Copy, learn, tell } from "./copy.ts";
import { assignedRights, changedRights } from "./copy-rights.ts";
import type { HandBack } from "./hand-back.ts";
import type { ProgressQueues } from "./progress-queues.ts";
import type { ServiceDesk } from "./service-desk.ts";
import type { StartGate } from "./start-gate.ts";
import type { WarmCopies, WarmCopy } from "./warm-copies.ts";

export interface HeldExecutionsOptions extends Pick<World, "log"> {
  readonly copies: Copies;
  readonly lanes: CheckpointLanes;
  readonly progress: ProgressQueues;
  readonly handBack: HandBack;
  readonly modules: Pick<ModuleCache, "ensure" | "file" | "readable">;
  readonly desk: ServiceDesk;
  readonly warm: WarmCopies;
  readonly pool: RunnerPool;
  readonly gate: StartGate;
  /** Undefined: nothing is measured. */
  readonly metrics?: BuiltinMetrics | undefined;
  limits(): ExecutionLimits;
  /** The number of the server's protocol (WRK-3). */
  serverProtocol(): number;
  /** Seconds that bodies get to end after a cancel (DSP-9). */
  readonly cancelGrace: number;
  /** The machine (its disk, its handles) does not let executions begin. */
  onTrouble(trouble: MachineTrouble): void;
  /** A runner is alive again. A server that was told `overloaded` sends work after a reconnect. */
  onRecovered(): void;
  /** Cancels were handed over: the server waits to hear that they have arrived (DSP-9). */
  onCancelling(): void;
  /** The log of an assignment behind `from`, as far as its frame left it out. */
  missing(assignment: Assignment, from: number): Promise<LogText>;
}

/**
 * The executions a worker holds, between the server's frames and the runners' messages. A copy leaves
 * by one of three doors: it ended, it was dropped (the server has given it to somebody else, so
 * nothing more is written), or it is released (the server hears that it must go elsewhere).
 */
export class HeldExecutions {
  readonly #options: HeldExecutionsOptions;
  #draining = false;
  /** Work was sent back because no runner was alive. */
  #isWithoutRunner = false;

  constructor(options: HeldExecutionsOptions) {
    this.#options = options;
  }

  get isDraining(): boolean {
    return this.#draining;
  }

  assign(assignment: Assignment): void {
    const { copies, desk, pool } = this.#options;
    const { execution_id, generation, module, name, head, listen, execution_token } = assignment;
    const held = copies.find(execution_id);
    if (held && held.generation >= generation) return;
    if (held) this.#drop(held, "assigned anew");
    const fresh = { execution_id, module_hash: module.hash, name, generation, seq: head };
    const mayBeWarm = !this.#draining && !assignment.apart;
    const warm = mayBeWarm ? this.#options.warm.take(fresh) : undefined;
    const rights = assignedRights(assignment.authz, this.#options.serverProtocol());
    const copy = copies.add({ ...fresh, listening: listen, rights }, warm?.number);
    if (this.#draining) {
      this.release(copy, "draining");
      return;
    }
    if (!pool.offers(assignment.runner)) {
      this.#options.log.error(
        { execution_id, runner: assignment.runner },
        "an execution needs a runner that this worker does not have; it goes back to the queue",
      );
      this.release(copy, "runner_lost");
      return;
    }
    const runner = warm?.runner ?? pool.pick(assignment);
    if (!runner) {
      this.#isWithoutRunner = !assignment.apart;
      // An execution that is to run apart may find no runner here where any other one would.
      this.release(copy, assignment.apart ? "unready" : "overloaded");
      return;
    }
    copy.runner = runner;
    runner.load++;
    this.#options.metrics?.assigned(copy);
    if (execution_token) desk.tokens.keep(copy, execution_token);
    const starting = warm
      ? this.#wake(copy, warm, assignment)
      : this.#prepare(copy, runner, assignment);
    starting.catch((error: unknown) => this.#unstarted(copy, error));
  }

  events({ execution_id, generation, base_seq, events }: FrameData<"events">): void {
    const copy = this.#options.copies.find(execution_id);
    if (copy?.generation !== generation) return;
    learn(copy, base_seq, base_seq + events.length);
    if (events.some(({ type }) => type === "WORKFLOW_CANCELLING")) this.#options.onCancelling();
    tell(copy, { kind: "events", copy: copy.number, base_seq, events });
  }

  listen({ execution_id, on }: FrameData<"listen">): void {
    const copy = this.#options.copies.find(execution_id);
    if (copy) this.setListening(copy, on);
  }

  setListening(copy: Copy, on: boolean): void {
    copy.listening = on;
    tell(copy, { kind: "listen", copy: copy.number, on });
  }

  /** The rights of an execution's principal have changed, or it cannot be used any more (AUTH-36). */
  grants({ execution_id, generation, ...changed }: FrameData<"grants">): void {
    const copy = this.#options.copies.find(execution_id);
    if (copy?.generation !== generation) return;
    copy.rights = changedRights(changed);
    tell(copy, { kind: "rights", copy: copy.number, rights: copy.rights });
  }

  /** The server's answer to the listed holdings: those to keep, those to drop (WRK-9). */
  welcome({ keep, drop }: FrameData<"welcome">): void {
    for (const { execution_id, generation } of keep) {
      const copy = this.#options.copies.find(execution_id);
      if (copy) copy.generation = Math.max(copy.generation, generation);
    }
    for (const entry of drop) this.drop(entry, entry.reason);
  }

  /** Stops a copy that is not this worker's any more. */
  drop(
    { execution_id, generation }: { execution_id: string; generation: number },
    reason: string,
  ): void {
    const copy = this.#options.copies.find(execution_id);
    if (copy && copy.generation <= generation) this.#drop(copy, reason);
  }

  dropAll(reason: string): void {
    for (const copy of this.#options.copies.all()) this.#drop(copy, reason);
    this.#options.warm.dropAll();
  }

  /** From now on nothing new is taken. */
  drain(): void {
    this.#draining = true;
  }

  releaseAll(reason: ReleaseReason): void {
    for (const copy of this.#options.copies.all()) this.release(copy, reason);
  }

  /** Stops a copy and gives its execution back, after what it has already written. */
  release(copy: Copy, reason: ReleaseReason, error?: Failure): void {
    if (copy.state !== "held") return;
    copy.state = "releasing";
    this.#leaveRunner(copy, reason);
    void this.#release(copy, reason, error);
  }

  /** What a runner has said in one turn: of its copies, and of itself. */
  said(runner: Runner, messages: readonly FromRunner[]): void {
    for (const message of messages) {
      if (!("copy" in message)) {
        this.#ofRunner(runner, message);
        continue;
      }
      const copy = this.#options.copies.numbered(message.copy);
      if (copy?.runner === runner) this.#ofCopy(copy, runner, message);
    }
  }

  #ofRunner(runner: Runner, message: OfRunner): void {
    const { pool, warm, log } = this.#options;
    switch (message.kind) {
      case "ready":
        pool.ready(runner);
        if (this.#isWithoutRunner) this.#options.onRecovered();
        this.#isWithoutRunner = false;
        break;
      case "alive":
        pool.answered(runner);
        break;
      case "crowded":
        warm.dropOn(runner);
        break;
      case "log":
        log[message.level](message.details, message.message);
        break;
    }
  }

  #ofCopy(copy: Copy, runner: Runner, message: OfCopy): void {
    switch (message.kind) {
      case "delta":
        if (ran.hasSubscribers) ran.publish({ of: [message.delta.state] });
        copy.cold = undefined;
        this.#options.metrics?.wrote(copy);
        copy.writing = this.#checkpoint(copy, message.delta);
        break;
      case "progress":
        this.#options.progress.add(copy, message.item);
        break;
      case "request":
        void this.#serve(copy, message);
        break;
      case "stalled":
        // Another worker does what comes next: all that the copy has done is in the log (WRK-12).
        if (this.#options.gate.isLeaving) this.release(copy, "draining");
        else if (copy.rights?.hold) this.release(copy, "principal_unavailable");
        break;
      case "cold":
        this.#startCold(copy, runner);
        break;
      case "unloadable":
        runner.loaded.delete(copy.module_hash);
        this.#unloadable(copy, message.failure);
        break;
      case "unreadable": {
        const { module_hash } = copy;
        const read = () => this.#options.modules.readable(module_hash);
        runner.loaded.delete(module_hash);
        this.#troubled(copy, new MachineTrouble(message.why, read));
        break;
      }
      case "ended":
        // This worker did not ask the copy to stop, so the log does not say how the execution goes on.
        if (message.how === "stopped") this.release(copy, "runner_lost");
        else this.#remove(copy);
        break;
    }
  }

  runnerDied(runner: Runner): void {
    const copies = this.#lost(runner);
    for (const copy of copies) {
      if (runner.isReady) this.#options.metrics?.lost();
      this.release(copy, runner.isReady ? blame(copy, runner.culprit, copies) : "unready");
    }
  }

  /** Some code does not let its runner answer. */
  runnerStalled(runner: Runner, number: number, seconds: number): void {
    this.#options.log.error(
      this.#blocked(runner, number, seconds),
      "code does not let its runner answer: the execution named here was entered last; move long computations to a runner process, or let them await something now and then",
    );
  }

  /**
   * A runner that does not answer is about to be ended: its executions go elsewhere, and only the one
   * to blame has that counted.
   */
  runnerStuck(runner: Runner, number: number, seconds: number): void {
    this.#options.log.error(
      this.#blocked(runner, number, seconds),
      "a runner is ended because code does not let it answer; its executions go back to the queue",
    );
    for (const copy of this.#lost(runner)) {
      this.#options.metrics?.lost();
      this.release(copy, copy.number === number ? "stuck" : "neighbour");
    }
  }

  async #prepare(copy: Copy, runner: Runner, assignment: Assignment): Promise<void> {
    const { modules, limits, cancelGrace } = this.#options;
    const { execution_id, namespace, workflow, version, name, input, module } = assignment;
    const { seed, parent_id, transient } = assignment;
    const about = { execution_id, namespace, workflow, version, name, input };
    // Nothing is awaited in the usual case: the body starts in this turn of the loop.
    const isWhole = assignment.history.after === 0;
    const missing = isWhole ? [] : await this.#options.missing(assignment, 0);
    if (!runner.loaded.has(module.hash)) await modules.ensure(module.hash);
    if (copy.state !== "held") return;
    runner.loaded.add(module.hash);
    begin(copy, runner, {
      kind: "start",
      copy: copy.number,
      info: { ...about, seed, parent_id, transient, bundle: module.hash },
      module: { hash: module.hash, path: modules.file(module.hash) },
      placement: assignment.placement,
      history: [...missing, framed(assignment)],
      limits: limits(),
      cancel_grace: cancelGrace,
      listen: copy.listening,
      rights: copy.rights,
    });
  }

  /** Lets a copy that waited go on with what its log has gained (RUN-4). */
  async #wake(copy: Copy, warm: WarmCopy, assignment: Assignment): Promise<void> {
    const { seq } = warm;
    const isEnough = seq >= assignment.history.after;
    const missing = isEnough ? [] : await this.#options.missing(assignment, seq);
    if (copy.state !== "held") return;
    copy.cold = assignment;
    begin(copy, warm.runner, {
      kind: "wake",
      copy: copy.number,
      events: [...missing, framed(assignment, seq)],
      listen: copy.listening,
      rights: copy.rights,
    });
  }

  /** A warm copy cannot take up what others have written: the execution is started by a replay. */
  #startCold(copy: Copy, runner: Runner): void {
    const { cold } = copy;
    copy.cold = undefined;
    if (!cold || copy.state !== "held") return;
    copy.early = [];
    this.#prepare(copy, runner, cold).catch((error: unknown) => this.#unstarted(copy, error));
  }

  async #serve(copy: Copy, { id, request }: Request): Promise<void> {
    const answer = await this.#options.desk.answer(copy, request);
    if (answer) copy.runner?.post([{ kind: "answer", copy: copy.number, id, answer }]);
  }

  /** An execution that cannot start gives its slot back, whatever the cause. */
  #unstarted(copy: Copy, error: unknown): void {
    if (error instanceof WorkerEnded || copy.state !== "held") return;
    if (hasCode(error, "stale_claim")) {
      this.#drop(copy, "stale_claim");
      return;
    }
    if (error instanceof HashMismatch) {
      const details = { hash: copy.module_hash };
      this.#unloadable(copy, loadFailure("hash_mismatch", error.message, details));
      return;
    }
    if (error instanceof MachineTrouble) {
      this.#troubled(copy, error);
      return;
    }
    const { execution_id } = copy;
    this.#options.log.error(
      { execution_id, error: messageOf(error) },
      "an execution could not be started here; it goes back to the queue",
    );
    // A request that got no answer says nothing of the execution; a refusal of the server does.
    this.release(copy, isTransient(error) ? "unready" : "runner_lost");
  }

  #troubled(copy: Copy, trouble: MachineTrouble): void {
    this.#options.onTrouble(trouble);
    this.release(copy, "unready");
  }

  async #checkpoint(copy: Copy, delta: Delta): Promise<void> {
    const { lanes, progress } = this.#options;
    const closing = isClosing(delta);
    // PRG-5: viewers have every value before the frame that closes their stream.
    const flushed = closing ? progress.flush(copy) : undefined;
    if (flushed) await flushed;
    if (copy.state === "gone") return;
    const reply = await lanes.send(copy, delta);
    if (this.#isGone(copy)) return;
    copy.runner?.post([{ kind: "reply", copy: copy.number, reply }]);
    // The server counts the slot as free from this commit on; so does the worker.
    if (closing && reply.kind === "accepted") this.#leave(copy, delta);
  }

  async #release(copy: Copy, reason: ReleaseReason, error: Failure | undefined): Promise<void> {
    await copy.writing;
    // First, since the server refuses progress once it has taken the execution back.
    await this.#options.progress.flush(copy);
    if (this.#isGone(copy)) return;
    await this.#options.handBack(copy, reason, error);
    this.#remove(copy);
  }

  #isGone(copy: Copy): boolean {
    return copy.state === "gone";
  }

  #drop(copy: Copy, reason: string): void {
    const { log, progress } = this.#options;
    const { execution_id, generation } = copy;
    log.info({ execution_id, generation, reason }, "an execution is no longer this worker's");
    this.#leaveRunner(copy, reason);
    progress.drop(copy);
    this.#remove(copy);
  }

  /** The log says that a copy is over, or waits; one that waits stays in its runner, without a slot. */
  #leave(copy: Copy, { state }: Delta): void {
    const { runner } = copy;
    this.#options.metrics?.left(copy, state);
    this.#remove(copy);
    if (runner?.isShared && !isTerminal(state)) this.#options.warm.keep({ ...copy, runner });
  }

  #remove(copy: Copy): void {
    this.#leaveRunner(copy);
    this.#options.copies.remove(copy);
  }

  /** @param stop Why a copy has to stop that is not over yet. */
  #leaveRunner(copy: Copy, stop?: string): void {
    const { desk, pool } = this.#options;
    const { number, runner } = copy;
    if (!runner) return;
    if (stop !== undefined) runner.post([{ kind: "stop", copy: number, reason: stop }]);
    copy.runner = undefined;
    desk.left(copy);
    pool.left(runner);
  }

  /** A runner is of no use any more. Gives the copies that were on it. */
  #lost(runner: Runner): Copy[] {
    const { copies, warm } = this.#options;
    warm.runnerDied(runner);
    return copies.all().filter((copy) => copy.runner === runner);
  }

  /** What the log says of a runner that does not answer. */
  #blocked({ load }: Runner, number: number, seconds: number): object {
    const execution_id = this.#options.copies.numbered(number)?.execution_id ?? null;
    return { execution_id, seconds, executions: load };
  }

  #unloadable(copy: Copy, failure: Failure): void {
    const { execution_id } = copy;
    const at = placeOf(failure);
    const details = { execution_id, reason: failure.details?.["reason"], ...(at && { at }) };
    this.#options.log.error(details, failure.message);
    this.release(copy, "load_failed", failure);
  }
}

/**
 * Why a copy goes back whose runner has died (LIV-5). Where the culprit is known, nothing is held
 * against the other copies of the runner; where it is not, each of them may have done it.
 */
function blame(copy: Copy, culprit: number, copies: readonly Copy[]): ReleaseReason {
  if (culprit !== 0) return copy.number === culprit ? "runner_lost" : "neighbour";
  return copies.length === 1 ? "runner_lost" : "suspect";
}

/** Whether a delta ends the copy: the execution has ended, paused or parked. */
function isClosing({ state, waiting }: Delta): boolean {
  return isTerminal(state) || state === "PAUSED" || (state === "RUNNING" && waiting !== undefined);
}

/** The events behind `from` that an assignment brought along. */
function framed({ history }: Assignment, from = 0): string {
  return JSON.stringify({ events: history.events.slice(Math.max(0, from - history.after)) });
}

type OfCopy = Extract<FromRunner, { copy: number }>;
type OfRunner = Exclude<FromRunner, OfCopy>;
type Request = Extract<FromRunner, { kind: "request" }>;
type FrameData<Name extends WorkerFrame["event"]> = Extract<WorkerFrame, { event: Name }>["data"];
