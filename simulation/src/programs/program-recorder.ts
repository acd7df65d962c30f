import { encode, type Json } from "@engine/contract";
import type { BodyEnd, BodyEntry, ValueSeen } from "../evidence.ts";
import type { BodyCall, ProgramPort, RunningBody, Sight } from "./program-port.ts";

/** Who runs the code that is calling. */
export interface Runner {
  readonly worker: string;
  readonly process: string;
  /** Under which that worker was given the execution last. */
  readonly generation: number;
  /** What the clock of its process says now. */
  readonly clock: number;
  /** The latest that it has said. */
  readonly latest_clock: number;
}

export interface Surroundings {
  /** True virtual time. */
  now(): number;
  /** Undefined while nobody does: then nothing is written down. */
  runner(execution_id: string): Runner | undefined;
  /** Lets time pass for the calling process; rejects with the signal's reason when it aborts. */
  wait(ms: number, signal: AbortSignal | undefined): Promise<void>;
}

/** Writes down what code of programs says, for the evidence. */
export class ProgramRecorder implements ProgramPort {
  readonly bodies: BodyEntry[] = [];
  readonly values: ValueSeen[] = [];
  readonly #around: Surroundings;

  constructor(around: Surroundings) {
    this.#around = around;
  }

  enter(call: BodyCall): RunningBody {
    const { now, runner, wait } = this.#around;
    const by = runner(call.execution_id);
    const entry: Mutable<BodyEntry> | undefined = by && { ...call, ...by, at: now(), end: null };
    if (entry) this.bodies.push(entry);
    let isAborted = false;
    const end = (how: BodyEnd["how"], value: Json) => {
      if (entry) entry.end = { at: now(), how, value };
    };
    return {
      wait: async (ms, signal) => {
        try {
          await wait(ms, signal);
        } catch (error) {
          isAborted = signal?.aborted ?? false;
          throw error;
        }
      },
      returned: (value) => end("returned", encode(value, "value")),
      threw: (error) =>
        end(isAborted ? "aborted" : "threw", error instanceof Error ? error.message : `${error}`),
    };
  }

  idle(ms: number): Promise<void> {
    return this.#around.wait(ms, undefined);
  }

  saw({ execution_id, path, kind, value }: Sight): void {
    const by = this.#around.runner(execution_id);
    if (!by) return;
    const { generation, process } = by;
    const at = this.#around.now();
    const seen = { execution_id, path, kind, generation, process, at };
    this.values.push({ ...seen, value: encode(value, "value") });
  }
}

type Mutable<Type> = { -readonly [Key in keyof Type]: Type[Key] };
