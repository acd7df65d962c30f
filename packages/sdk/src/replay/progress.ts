import {
  type Encoded,
  formatEventTime,
  PROGRESS_QUEUE_LIMIT,
  PROGRESS_VALUE_BYTES,
  type ProgressItem,
  SENSITIVE,
  store,
} from "@engine/contract";
import type { Call } from "./calls/call.ts";
import type { RunOptions } from "./port.ts";

/** What tasks say with `progress()`: live only, and only while somebody listens (PRG-2). */
export class Progress {
  /** Somebody listens. */
  isWanted: boolean;
  readonly #options: RunOptions;
  readonly #warned: Set<string> = new Set();
  /** Values from before the log says that this copy runs; undefined once it does. */
  #early: ProgressItem[] | undefined = [];

  constructor(options: RunOptions) {
    this.#options = options;
    this.isWanted = options.listen;
  }

  /** Values wait for the log to say that this copy runs; they go before anything that ends it. */
  get isHeldBack(): boolean {
    return this.#early !== undefined && this.#early.length > 0;
  }

  /** The log says that this copy runs: a viewer sees that before any value (EXE-91). */
  begin(): void {
    const early = this.#early ?? [];
    this.#early = undefined;
    for (const item of early) this.#options.port.progress(item);
  }

  /** Passes a value on. Never throws: progress must not be able to fail a task (PRG-1). */
  send(task: Call, value: unknown): void {
    if (!this.isWanted) return;
    const { host } = this.#options;
    const stored = task.isSensitive ? SENSITIVE : encoded(value);
    if (stored !== undefined) {
      const time = formatEventTime(host.now());
      this.#pass({ source_id: task.id, name: task.name, value: stored, time });
      return;
    }
    if (this.#warned.has(task.id)) return;
    this.#warned.add(task.id);
    const message = `a progress value of ${task.id} was dropped: it has no stored form, or is over ${PROGRESS_VALUE_BYTES} bytes as JSON; further ones of this call are dropped without a word`;
    const { execution_id } = this.#options.info;
    host.log("warn", message, { execution_id, task_call_id: task.id });
  }

  #pass(item: ProgressItem): void {
    if (!this.#early) this.#options.port.progress(item);
    else if (this.#early.length < PROGRESS_QUEUE_LIMIT) this.#early.push(item);
  }
}

/** Undefined for a value that has no stored form, and so cannot be sent. */
function encoded(value: unknown): Encoded | undefined {
  try {
    const { text } = store(value, "value");
    return isTooLong(text) ? undefined : (JSON.parse(text) as Encoded);
  } catch {
    return undefined;
  }
}

function isTooLong(text: string): boolean {
  let bytes = text.length;
  if (bytes * 3 <= PROGRESS_VALUE_BYTES) return false;
  for (let i = 0; i < text.length && bytes <= PROGRESS_VALUE_BYTES; i++) {
    const unit = text.charCodeAt(i);
    // In UTF-8 the two halves of a pair share four bytes.
    const isHalf = unit >= 0xd800 && unit <= 0xdfff;
    if (unit > 0x7f) bytes += unit > 0x7ff && !isHalf ? 2 : 1;
  }
  return bytes > PROGRESS_VALUE_BYTES;
}
