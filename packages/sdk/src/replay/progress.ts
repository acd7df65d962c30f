import {
  type Encoded,
  formatEventTime,
  PROGRESS_QUEUE_LIMIT,
  PROGRESS_VALUE_BYTES,
  type ProgressItem,
  store,
} from "@engine/contract";
import type { Call } from "./call.ts";
import type { RunOptions } from "./port.ts";

/** What tasks say with `progress()`: live only, and only while somebody listens (PRG-2). */
export class Progress {
  readonly #options: RunOptions;
  readonly #warned: Set<string> = new Set();
  #isWanted: boolean;
  /** Values from before the log says that this copy runs; undefined once it does. */
  #early: ProgressItem[] | undefined = [];

  constructor(options: RunOptions) {
    this.#options = options;
    this.#isWanted = options.listen;
  }

  listen(isWanted: boolean): void {
    this.#isWanted = isWanted;
  }

  /** The log says that this copy runs: a viewer sees that before any value (EXE-91). */
  begin(): void {
    const early = this.#early ?? [];
    this.#early = undefined;
    for (const item of early) this.#options.port.progress(item);
  }

  /** Passes a value on. Never throws: progress must not be able to fail a task (PRG-1). */
  send(task: Call, value: unknown): void {
    if (!this.#isWanted) return;
    const { host } = this.#options;
    const stored = encoded(value);
    if (stored !== undefined) {
      const time = formatEventTime(host.now());
      this.#pass({ source_id: task.id, name: task.name, value: stored, time });
      return;
    }
    if (this.#warned.has(task.id)) return;
    this.#warned.add(task.id);
    const message = `a progress value cannot be sent: it has no stored form or exceeds ${PROGRESS_VALUE_BYTES} bytes`;
    host.log("warn", message, { task_call_id: task.id });
  }

  #pass(item: ProgressItem): void {
    if (!this.#early) this.#options.port.progress(item);
    else if (this.#early.length < PROGRESS_QUEUE_LIMIT) this.#early.push(item);
  }
}

/** Undefined for what cannot be sent: no stored form has that value. */
function encoded(value: unknown): Encoded | undefined {
  try {
    const { text } = store(value, "value");
    return text.length > PROGRESS_VALUE_BYTES ? undefined : (JSON.parse(text) as Encoded);
  } catch {
    return undefined;
  }
}
