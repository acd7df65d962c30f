/** For tests: an engine whose answers a test gives one by one, and that notes what it was asked. */
import type { EngineError, ServiceEndpoint, ServiceRun } from "@engine/contract";
import type {
  AskedExecution,
  AskedResume,
  AskedRun,
  ListedService,
  RunFrame,
  ServiceCalls,
} from "../service-calls.ts";
import { runOf } from "./run.ts";

export class ScriptedCalls implements ServiceCalls {
  endpoints: readonly ServiceEndpoint[];
  /** What every request but a list is refused with. */
  refusal: EngineError | undefined;
  /** What a list is refused with. */
  listRefusal: EngineError | undefined;
  /** What run, resume and status answer. */
  answer: ServiceRun = runOf({ state: "CREATED" });
  /** What was asked for besides lists, in order. */
  readonly asked: unknown[] = [];
  readonly lists: { readonly fresh?: boolean }[] = [];
  readonly stream: ScriptedStream = new ScriptedStream();

  constructor(endpoints: readonly ServiceEndpoint[] = []) {
    this.endpoints = endpoints;
  }

  async list(options: { readonly fresh?: boolean } = {}): Promise<ListedService> {
    this.lists.push(options);
    if (this.listRefusal) throw this.listRefusal;
    return { endpoints: [...this.endpoints] };
  }

  run(asked: AskedRun): Promise<ServiceRun> {
    return this.#answer("run", asked);
  }

  resume(asked: AskedResume): Promise<ServiceRun> {
    return this.#answer("resume", asked);
  }

  status(asked: AskedExecution): Promise<ServiceRun> {
    return this.#answer("status", asked);
  }

  async cancel(asked: AskedExecution): Promise<void> {
    await this.#answer("cancel", asked);
  }

  async *follow(asked: AskedRun | AskedResume, signal: AbortSignal): AsyncGenerator<RunFrame> {
    await this.#answer(`follow ${asked.kind}`, asked);
    yield* this.stream.frames(signal);
  }

  async #answer(request: string, { endpoint, ...rest }: AskedExecution | AskedRun | AskedResume) {
    this.asked.push({ request, ref: endpoint.ref, ...rest });
    if (this.refusal) throw this.refusal;
    return this.answer;
  }
}

/** Frames as a test sends them; it ends when the test says so. */
export class ScriptedStream {
  readonly #queue: (RunFrame | "end" | Error)[] = [];
  #wake: () => void = () => {};
  /** Whether whoever read it has gone. */
  readonly left: Promise<void>;
  readonly #onLeft: () => void;

  constructor() {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.left = promise;
    this.#onLeft = resolve;
  }

  send(...frames: (RunFrame | "end" | Error)[]): void {
    this.#queue.push(...frames);
    this.#wake();
  }

  state(state: ServiceRun["state"], changes: Partial<ServiceRun> = {}): void {
    this.send({ kind: "state", run: runOf({ ...changes, state }) });
  }

  async *frames(signal: AbortSignal): AsyncGenerator<RunFrame> {
    signal.addEventListener("abort", () => this.#onLeft(), { once: true });
    for (;;) {
      const next = this.#queue.shift();
      if (next === "end") return;
      if (next instanceof Error) throw next;
      if (next) yield next;
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}
