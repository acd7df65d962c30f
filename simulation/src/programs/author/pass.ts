/** One pass of a body over its program: what it knows, and what it says of that. */
import type { Failure, WorkflowContext } from "@engine/sdk";
import type { ProgramInput, Told } from "../program.ts";
import type { Sight } from "../program-port.ts";
import { digest } from "./digest.ts";
import { copyOf, spoil } from "./spoil.ts";
import { port, taken } from "./surroundings.ts";

export interface PassOptions {
  readonly ctx: WorkflowContext;
  /** The time on the first line of the body. */
  readonly began: number;
  readonly token: string;
  /** Of the input, for what it calls. */
  readonly bequest: Bequest;
}

/** What the tasks and children of a program get of its input. */
export type Bequest = Pick<ProgramInput, "trace" | "careful" | "where">;

export class Pass {
  readonly bequest: Bequest;
  readonly #ctx: WorkflowContext;
  readonly #began: number;
  readonly #token: string;
  #seen = "";

  constructor({ ctx, began, token, bequest }: PassOptions) {
    this.#ctx = ctx;
    this.#began = began;
    this.#token = token;
    this.bequest = bequest;
  }

  /** What the body hands to the task that it calls next. */
  tell(path: string): Told {
    const told = {
      began: this.#began,
      clock: Date.now(),
      random: taken.random(),
      uuid: crypto.randomUUID(),
      token: this.#token,
      label: this.#ctx.label,
      seen: this.#seen,
    };
    port()?.tells?.({ execution_id: this.#ctx.executionId, path, told });
    return told;
  }

  get careful(): true | undefined {
    return this.bequest.careful;
  }

  /** A value that a call gave, told to whoever watches. */
  saw<Value>(kind: Sight["kind"], path: string, value: Value): Value {
    port()?.saw({ execution_id: this.#ctx.executionId, path, kind, value });
    return this.takes(path, value);
  }

  /** A copy of what the body was given, which it changes after use. */
  takes<Value>(path: string, value: Value): Value {
    const copy = copyOf(value);
    this.learns(path, value);
    spoil(value, this.careful);
    return copy;
  }

  learns(what: string, value: unknown): void {
    this.#seen = digest([this.#seen, what, value]);
  }

  /** What is in a failure besides its message. */
  suffers(path: string, { type, details, attempts }: Failure): void {
    this.learns(path, [type, attempts, details]);
    spoil(details, this.careful);
  }

  /** What the log holds, as far as this pass has come. */
  recalls(path: string): void {
    const events = this.#ctx.events.map(({ seq, type, name }) => [seq, type, name]);
    this.learns(path, events);
    for (const event of this.#ctx.events) spoil(event, this.careful);
    spoil(this.#ctx.events, this.careful);
  }
}
