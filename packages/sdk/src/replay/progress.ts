import { type Encoded, formatEventTime, PROGRESS_VALUE_BYTES, store } from "@engine/contract";
import type { Call } from "./call.ts";
import type { RunOptions } from "./port.ts";

/** What tasks say with `progress()`: live only, and only while somebody listens (PRG-2). */
export class Progress {
  readonly #options: RunOptions;
  readonly #warned: Set<string> = new Set();
  #isWanted: boolean;

  constructor(options: RunOptions) {
    this.#options = options;
    this.#isWanted = options.listen;
  }

  listen(isWanted: boolean): void {
    this.#isWanted = isWanted;
  }

  /** Passes a value on. Never throws: progress must not be able to fail a task (PRG-1). */
  send(task: Call, value: unknown): void {
    if (!this.#isWanted) return;
    const { host, port } = this.#options;
    const stored = encoded(value);
    if (stored !== undefined) {
      const time = formatEventTime(host.now());
      port.progress({ source_id: task.id, name: task.name, value: stored, time });
      return;
    }
    if (this.#warned.has(task.id)) return;
    this.#warned.add(task.id);
    const message = `a progress value cannot be sent: it has no stored form or exceeds ${PROGRESS_VALUE_BYTES} bytes`;
    host.log("warn", message, { task_call_id: task.id });
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
