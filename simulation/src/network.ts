import { EngineError } from "@engine/contract";
import type { Fault } from "./evidence.ts";
import type { Rates } from "./plan.ts";
import type { Process } from "./process.ts";
import type { Random } from "./random.ts";
import type { World } from "./world.ts";

/** One request: what is asked, and of whom when it arrives. */
export interface Call<Answer> {
  readonly from: Process;
  /** Name of the server's address: whatever process is there when it arrives answers. */
  readonly to: string;
  readonly what: () => string;
  readonly timeoutMs: number;
  /** Whether the network may hand it over twice. */
  readonly mayRepeat: boolean;
  /** What the server does; its answer is copied as the wire would. */
  serve(): Promise<Answer> | Answer;
}

/** After which a side of a broken connection that heard nothing is told by its own machine. */
export const HALF_OPEN_MS = 60_000;

/** A message takes so long at the most when nothing keeps it. */
const PROMPT_MS = 3;

export interface NetworkParts {
  readonly world: World;
  readonly random: Random;
  readonly rates: Rates;
  /** Whether faults happen now. */
  readonly isRough: () => boolean;
  /** The process that listens at an address. */
  readonly listening: (address: string) => Process | undefined;
  readonly note: (fault: Fault) => void;
}

/** What lies between processes. Every message takes its time, and more may happen to it. */
export class Network {
  readonly #parts: NetworkParts;
  readonly #random: Record<"delay" | "drop" | "duplicate" | "late" | "cut", Random>;
  /** `from>to` of names that do not reach each other. */
  readonly #blocked = new Map<string, number>();
  /** Requests of workers that are neither answered nor given up, but for those that are to wait. */
  readonly #underWay = new Set<Call<unknown>>();
  /** Requests that a server has taken and not answered: its death breaks their connections. */
  readonly #open = new Map<Process, Set<() => void>>();

  constructor(parts: NetworkParts) {
    this.#parts = parts;
    const { random } = parts;
    this.#random = {
      delay: random.fork("delay"),
      drop: random.fork("drop"),
      duplicate: random.fork("duplicate"),
      late: random.fork("late"),
      cut: random.fork("cut"),
    };
  }

  /** Whether a worker waits for an answer. */
  get isAwaited(): boolean {
    return [...this.#underWay].some(({ from }) => from.isAlive);
  }

  block(from: string, to: string, ms: number): void {
    this.#blocked.set(`${from}>${to}`, this.#parts.world.now + ms);
  }

  heal(): void {
    this.#blocked.clear();
  }

  isBlocked(from: string, to: string): boolean {
    return (this.#blocked.get(`${from}>${to}`) ?? 0) > this.#parts.world.now;
  }

  /** Settles with the answer, or rejects when the network lost the request or its answer. */
  call<Answer>(call: Call<Answer>): Promise<Answer> {
    const { world, listening } = this.#parts;
    const { from, to } = call;
    return new Promise((resolve, reject) => {
      let isOver = false;
      if (call.mayRepeat) this.#underWay.add(call);
      const finish = (then: () => void) => {
        if (isOver) return;
        isOver = true;
        this.#underWay.delete(call);
        stopWaiting();
        then();
      };
      const broken = (why: string) => finish(() => reject(new Error(why)));
      const stopWaiting = from.setTimer(
        () => broken(`no answer within ${call.timeoutMs} ms`),
        call.timeoutMs,
      );
      const breakSoon = (why: string) => {
        from.after(this.#delay(), () => broken(why));
      };

      const arrive = (isFirst: boolean) => {
        const server = listening(to);
        if (!server) {
          if (isFirst) breakSoon(`${to} refused the connection`);
          return;
        }
        const reset = () => {
          if (!isFirst) return;
          if (this.#isLost()) this.#note("drop", call);
          else breakSoon("the connection broke");
        };
        const open = this.#openOf(server);
        open.add(reset);
        // While it stands still, what arrives waits.
        server.after(0, () => {
          const answered = (deliver: () => void) => {
            open.delete(reset);
            if (!server.isAlive || !isFirst) return;
            if (this.isBlocked(to, from.name) || this.#isLost()) {
              this.#note("drop", call);
              world.trace.say(to, () => `answer to ${from.name} is lost: ${call.what()}`);
              if (this.#random.drop.chance(0.5)) breakSoon("the answer was cut off");
              return;
            }
            from.hear(server.time.ahead + this.#delayOf(call), () => finish(deliver));
          };
          Promise.resolve()
            .then(() => call.serve())
            .then(
              (answer) => answered(() => resolve(answer)),
              (error: unknown) => answered(() => reject(wired(error))),
            );
        });
      };

      if (this.isBlocked(from.name, to) || this.#isLost()) {
        this.#note("drop", call);
        world.trace.say(from.name, () => `request to ${to} is lost: ${call.what()}`);
        if (this.#random.drop.chance(0.5)) breakSoon("the connection broke");
        return;
      }
      world.after(from.time.ahead + this.#delayOf(call), () => arrive(true));
      const { duplicate } = this.#parts.rates;
      if (call.mayRepeat && this.#happens("duplicate", duplicate)) {
        this.#note("duplicate", call);
        world.trace.say(from.name, () => `request to ${to} arrives twice: ${call.what()}`);
        world.after(this.#delay() + this.#random.duplicate.between(0, 5_000), () => arrive(false));
      }
    });
  }

  /** A message of an open connection; undefined when it is to break now. */
  frameDelay(from: string, to: string): number | undefined {
    if (this.#happens("cut", this.#parts.rates.cut)) {
      const { now } = this.#parts.world;
      const until = now + HALF_OPEN_MS;
      this.#parts.note({ kind: "cut", at: now, until, worker: to, server: from });
      return undefined;
    }
    return this.isBlocked(from, to) ? Number.POSITIVE_INFINITY : this.#delay();
  }

  /** Whether a side of a connection that broke hears of it. */
  tells(from: string, to: string): boolean {
    return !this.isBlocked(from, to) && !(this.#parts.isRough() && this.#random.cut.chance(0.4));
  }

  delay(): number {
    return this.#delay();
  }

  /** Breaks the connections of a server that has died. */
  died(server: Process): void {
    for (const reset of this.#openOf(server)) reset();
    this.#open.delete(server);
  }

  /** Until its consequence is over: whoever waits for an answer waits so long. */
  #note(kind: Fault["kind"], { from, to, timeoutMs }: Call<unknown>): void {
    const { now } = this.#parts.world;
    const worker = from.name.startsWith("w") ? from.name : null;
    this.#parts.note({ kind, at: now, until: now + timeoutMs, worker, server: to });
  }

  #delayOf(call: Call<unknown>): number {
    const delay = this.#delay();
    if (delay > PROMPT_MS) this.#note("delay", call);
    return delay;
  }

  #openOf(server: Process): Set<() => void> {
    const known = this.#open.get(server) ?? new Set();
    this.#open.set(server, known);
    return known;
  }

  #isLost(): boolean {
    return this.#happens("drop", this.#parts.rates.drop);
  }

  #happens(kind: "drop" | "duplicate" | "late" | "cut", rate: number): boolean {
    // Drawn whether or not it matters now, so that what comes later does not move.
    return this.#random[kind].chance(rate) && this.#parts.isRough();
  }

  #delay(): number {
    const base = this.#random.delay.between(0.1, PROMPT_MS);
    if (!this.#happens("late", this.#parts.rates.delay)) return base;
    return base + this.#random.late.between(5, 4_000);
  }
}

/** Only what an EngineError says crosses the wire. */
function wired(error: unknown): unknown {
  return error instanceof EngineError ? EngineError.from(copied(error.toBody())) : new Error("500");
}

/** As the wire copies it. */
export function copied<Value>(value: Value): Value {
  return value === undefined ? value : (JSON.parse(JSON.stringify(value)) as Value);
}
