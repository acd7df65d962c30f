import {
  type Encoded,
  EngineError,
  type Event,
  engineFailure,
  type Failure,
  referenceOf,
} from "@engine/contract";
import type { AnyWorkflow } from "@engine/sdk";
import {
  type Ended,
  type Host,
  type LocalServices,
  type RunningExecution,
  startExecution,
  type TaskRights,
} from "@engine/sdk/node";
import { isUnreadable } from "../machine/machine-trouble.ts";
import type {
  FromRunner,
  LogText,
  StartMessage,
  ToRunner,
  WakeMessage,
} from "../runners/messages.ts";
import { messageOf } from "../transient.ts";
import { CopyPort } from "./copy-port.ts";
import { importFailure, pickWorkflow } from "./load-workflow.ts";
import type { RunnerClock } from "./runner-clock.ts";
import { type TakenInput, TakenInputs } from "./taken-inputs.ts";

type Workflows = readonly AnyWorkflow[];

export interface ExecutorOptions {
  readonly host: Host;
  /** How large the heap of this runner may become. */
  readonly memoryBytes: number;
  post(message: FromRunner): void;
  /** The workflows that a bundle exports. Rejects when its code does not load. */
  load(module: StartMessage["module"]): Promise<Workflows>;
  readonly clock: RunnerClock;
  /** Runs code on behalf of a copy, so that errors and stalls can be traced to the copy. */
  traced(copy: TracedCopy, run: () => void): void;
}

export interface TracedCopy {
  readonly copy: number;
  readonly execution_id: string;
  /** The copy is the first to need a module, and the code at the top of the module runs. */
  readonly isLoading?: boolean;
}

interface Module {
  readonly loading: Promise<Workflows>;
  /** Set once it has loaded: a start with it waits for nothing. */
  workflows?: Workflows;
}

/** A copy on its runner, from its start until it is over or forgotten. */
interface Entry extends TracedCopy {
  readonly port: CopyPort;
  /** Undefined until its module is loaded. */
  execution: RunningExecution | undefined;
  /** Its current run's end. */
  ended: Promise<Ended> | undefined;
  /** Set where the input lies outside of the log. */
  input: TakenInput | undefined;
  /** What the copy's principal may do, by the newest message. */
  rights: TaskRights | undefined;
  /** The run has ended and the execution waits. */
  isWaiting: boolean;
  /** Messages that arrive while the copy is about to start or to wake. */
  early: ToRunner[] | undefined;
}

/**
 * The runner's side of the messages: it turns them into calls of the replay core. The same on a
 * thread and on the main thread.
 */
export class Executor {
  readonly #options: ExecutorOptions;
  readonly #host: Host;
  readonly #entries = new Map<number, Entry>();
  readonly #modules = new Map<string, Module>();
  readonly #inputs: TakenInputs;
  #isHeld = false;
  #localServices: LocalServices = { offered: {}, granted: [] };

  constructor(options: ExecutorOptions) {
    const { clock, host, memoryBytes } = options;
    this.#options = options;
    this.#host = { ...host, now: clock.now };
    this.#inputs = new TakenInputs({ memoryBytes, onCrowded: () => this.#makeRoom() });
  }

  receive(messages: readonly ToRunner[]): void {
    for (const message of messages) this.#handle(message);
  }

  #handle(message: ToRunner): void {
    if (message.kind === "tick") this.#options.post({ kind: "alive" });
    else if (message.kind === "clock") this.#options.clock.set(message.server_at_zero);
    else if (message.kind === "hold") this.#hold(message.on);
    else if (message.kind === "services") this.#localServices = message.services;
    else if (message.kind === "start") void this.#start(message);
    else this.#ofCopy(message);
  }

  #hold(on: boolean): void {
    this.#isHeld = on;
    for (const { execution } of this.#entries.values()) execution?.hold(on);
  }

  #ofCopy(message: ToCopy): void {
    const entry = this.#entries.get(message.copy);
    // The copy is over: its end and this message crossed.
    if (!entry) return;
    if (message.kind === "rights") {
      // They count for the first task, too: a copy that is about to begin does so with them.
      entry.rights = message.rights;
    }
    // A copy that has not begun waits for nothing but its input.
    const isWaitedFor = message.kind === "stop" || (message.kind === "answer" && !entry.execution);
    if (entry.early && !isWaitedFor) entry.early.push(message);
    else this.#options.traced(entry, () => this.#pass(entry, message));
  }

  #pass(entry: Entry, message: ToCopy): void {
    const { port, execution } = entry;
    switch (message.kind) {
      case "reply":
        port.reply(message.reply);
        break;
      case "answer":
        port.answer(message.id, message.answer);
        break;
      case "events":
        execution?.deliver(message.base_seq, message.events);
        break;
      case "listen":
        execution?.listen(message.on);
        break;
      case "rights":
        execution?.setRights(entry.rights);
        break;
      case "wake":
        if (execution) void this.#wake(entry, execution, message);
        break;
      case "stop":
        this.#drop(entry, message.reason);
        break;
      case "forget":
        this.#remove(entry);
        break;
    }
  }

  async #start(message: StartMessage): Promise<void> {
    const { copy, info, module, rights } = message;
    const { post, traced } = this.#options;
    const checkValue = (text: string) => this.#inputs.check(text);
    const localServices = () => this.#localServices;
    const port = new CopyPort({ copy, post, checkValue, localServices });
    const entry: Entry = {
      copy,
      execution_id: info.execution_id,
      port,
      execution: undefined,
      ended: undefined,
      input: undefined,
      rights,
      isWaiting: false,
      early: [],
    };
    this.#entries.set(copy, entry);
    const { workflows: loaded, loading } = this.#load(module, entry);
    let workflows: Workflows;
    try {
      workflows = loaded ?? (await loading);
    } catch (error) {
      const why = messageOf(error);
      if (isUnreadable(error, module.path)) this.#end(entry, { kind: "unreadable", copy, why });
      else this.#fail(entry, importFailure(error, info));
      return;
    }
    if (!this.#has(entry)) return;
    const picked = pickWorkflow(workflows, { ...info, placement: message.placement });
    if ("message" in picked) {
      this.#fail(entry, picked);
      return;
    }
    const reference = referenceOf(info.input);
    let input: Encoded | undefined;
    try {
      if (reference) {
        entry.input = this.#inputs.take(reference, () => port.loadText(reference));
        input = await entry.input.value;
      }
    } catch (error) {
      this.#withoutInput(entry, error);
      return;
    }
    if (this.#has(entry)) traced(entry, () => this.#begin(entry, picked, { ...message, input }));
  }

  /** A storage that does not answer now may answer elsewhere, or later. */
  #withoutInput(entry: Entry, error: unknown): void {
    if (!this.#has(entry)) return;
    const code = error instanceof EngineError ? error.code : undefined;
    if (code === "payload_too_large") {
      this.#fail(entry, engineFailure("ValueTooLargeError", messageOf(error)));
    } else if (code === "not_found") {
      const message = `the stored input cannot be read: ${messageOf(error)}`;
      this.#fail(entry, engineFailure("StoredValueMissingError", message));
    } else this.#giveBack(entry, error);
  }

  #begin(
    entry: Entry,
    workflow: AnyWorkflow,
    message: StartMessage & { readonly input: Encoded | undefined },
  ): void {
    const { info, input, limits, cancel_grace, listen } = message;
    const { port, rights } = entry;
    const host = this.#host;
    const hold = this.#isHeld;
    try {
      const history = eventsOf(message.history);
      if (history.at(-1)?.seq !== history.length) throw new Error("its log came with a gap");
      const given = { info, input, limits, cancel_grace, listen, hold, rights, port, host };
      entry.execution = startExecution(workflow, { ...given, history });
    } catch (error) {
      this.#giveBack(entry, error);
      return;
    }
    this.#runs(entry, entry.execution.ended);
  }

  /** A copy that waits goes on, unless the log has become one that only a replay can take up. */
  async #wake(entry: Entry, execution: RunningExecution, { events, listen, rights }: WakeMessage) {
    entry.early = [];
    entry.rights = rights;
    // The reply to what it wrote last came just before, and the core may still be at it.
    await entry.ended;
    if (!this.#has(entry)) return;
    const behind = eventsOf(events).filter(({ seq }) => seq > execution.head);
    let ended: Promise<Ended> | undefined;
    try {
      if (behind[0]?.seq === execution.head + 1) {
        this.#options.traced(entry, () => {
          execution.setRights(entry.rights);
          ended = execution.wake(behind, listen);
        });
      }
    } catch (error) {
      entry.isWaiting = false;
      this.#giveBack(entry, error);
      return;
    }
    if (ended) {
      this.#runs(entry, ended);
      return;
    }
    this.#drop(entry, "the log went on without it");
    this.#options.post({ kind: "cold", copy: entry.copy });
  }

  #runs(entry: Entry, ended: Promise<Ended>): void {
    entry.ended = ended;
    entry.isWaiting = false;
    const { early } = entry;
    entry.early = undefined;
    for (const message of early ?? []) this.#handle(message);
    void ended.then((how) => {
      // A copy that waits stays as it is: the main thread wakes it or has it forgotten.
      const isWaiting = how === "paused" || how === "parked";
      entry.isWaiting = isWaiting;
      if (isWaiting) {
        if (this.#inputs.isWaitedFor) this.#makeRoom();
        return;
      }
      this.#end(entry, { kind: "ended", copy: entry.copy, how });
    });
  }

  /** Asks for the memory of copies that only wait: their logs can bring them back. */
  #makeRoom(): void {
    const isHolding = ({ isWaiting, input }: Entry) => isWaiting && input !== undefined;
    if ([...this.#entries.values()].some(isHolding)) this.#options.post({ kind: "crowded" });
  }

  /** A defect of ours must not keep the slot: the execution goes elsewhere. */
  #giveBack(entry: Entry, error: unknown): void {
    const { copy, execution_id } = entry;
    const { post } = this.#options;
    this.#drop(entry, "it could not be run");
    const message = "an execution could not be started on its runner";
    const text = error instanceof Error ? error.stack : String(error);
    post({ kind: "log", level: "error", message, details: { execution_id, error: text } });
    post({ kind: "ended", copy, how: "stopped" });
  }

  #load(module: StartMessage["module"], { copy, execution_id }: TracedCopy): Module {
    const { hash } = module;
    const known = this.#modules.get(hash);
    if (known) return known;
    const { load, traced } = this.#options;
    const { promise, resolve } = Promise.withResolvers<Workflows>();
    const fresh: Module = { loading: promise };
    this.#modules.set(hash, fresh);
    promise.then(
      (workflows) => {
        fresh.workflows = workflows;
      },
      () => this.#modules.delete(hash),
    );
    // A module runs code of its own as it loads.
    traced({ copy, execution_id, isLoading: true }, () => resolve(load(module)));
    return fresh;
  }

  #fail(entry: Entry, failure: Failure): void {
    this.#end(entry, { kind: "unloadable", copy: entry.copy, failure });
  }

  /** The last message of a copy, unless it was told to stop and is forgotten already. */
  #end(entry: Entry, last: FromRunner): void {
    if (!this.#has(entry)) return;
    this.#remove(entry);
    this.#options.post(last);
  }

  #drop(entry: Entry, reason: string): void {
    if (!this.#has(entry)) return;
    this.#remove(entry);
    // A copy that waits is left as it is: a task that waits in it must not see its signal abort, since
    // the execution goes on elsewhere from the same place.
    if (!entry.isWaiting) entry.execution?.stop(reason);
  }

  #remove({ copy, port, input }: Entry): void {
    this.#entries.delete(copy);
    port.close();
    input?.leave();
  }

  #has(entry: Entry): boolean {
    return this.#entries.get(entry.copy) === entry;
  }
}

type ToCopy = Exclude<ToRunner, StartMessage | { kind: "tick" | "hold" | "clock" | "services" }>;

function eventsOf(log: LogText): Event[] {
  return log.flatMap((piece) => (JSON.parse(piece) as { events: Event[] }).events);
}
