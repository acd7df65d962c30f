import { PROGRESS_QUEUE_LIMIT } from "@engine/contract";
import type { OwnSession } from "../link/own-session.ts";
import type { TextCalls } from "../link/text-link.ts";
import { messageOf } from "../transient.ts";
import { type World, within } from "../world.ts";
import type { Copy } from "./copy.ts";

const BATCH_ITEMS = 100;
const BATCH_BYTES = 256 * 1024;
/** How long a checkpoint that ends a stream waits for the values before it (PRG-5). */
const FLUSH_MS = 1_000;

export interface ProgressQueuesOptions extends Pick<World, "setTimer" | "log"> {
  readonly link: Pick<TextCalls, "progressText">;
  readonly session: OwnSession;
  /** The server says that nobody watches any more. */
  onUnwatched(copy: Copy): void;
}

/** Progress values on their way (PRG-3, PRG-4): bounded, one request in flight per execution. */
export class ProgressQueues {
  readonly #options: ProgressQueuesOptions;
  readonly #queues = new Map<Copy, Queue>();

  constructor(options: ProgressQueuesOptions) {
    this.#options = options;
  }

  /** @param item One `ProgressItem` as JSON. Dropped when nobody listens or too much is waiting. */
  add(copy: Copy, item: string): void {
    if (!copy.listening) return;
    const queue = this.#queues.get(copy);
    if (queue) {
      if (queue.items.length < PROGRESS_QUEUE_LIMIT) queue.items.push(item);
      return;
    }
    const fresh: Queue = { items: [item], sent: Promise.resolve() };
    this.#queues.set(copy, fresh);
    fresh.sent = this.#drain(copy, fresh);
  }

  /** Waits until what is queued has been sent, but not for long. Undefined: nothing is. */
  flush(copy: Copy): Promise<unknown> | undefined {
    const queue = this.#queues.get(copy);
    return queue && within(this.#options.setTimer, FLUSH_MS, queue.sent);
  }

  drop(copy: Copy): void {
    this.#queues.get(copy)?.items.splice(0);
  }

  async #drain(copy: Copy, queue: Queue): Promise<void> {
    const { link, session, log } = this.#options;
    // The end of this turn of the loop: values reported in one go travel together.
    await new Promise(setImmediate);
    while (queue.items.length > 0) {
      const batch = takeBatch(queue.items);
      try {
        const { listening } = await session.call((ref) => {
          const body = `{"generation":${copy.generation},"items":[${batch.join(",")}]}`;
          return link.progressText(ref, copy.execution_id, body);
        });
        if (!listening && copy.listening) {
          queue.items.splice(0);
          this.#options.onUnwatched(copy);
        }
      } catch (error) {
        const { execution_id } = copy;
        const details = { execution_id, items: batch.length, error: messageOf(error) };
        log.debug(details, "progress values were lost");
      }
    }
    this.#queues.delete(copy);
  }
}

interface Queue {
  readonly items: string[];
  /** Settles when all of it was sent or dropped. */
  sent: Promise<void>;
}

function takeBatch(items: string[]): string[] {
  let [count, bytes] = [0, 0];
  for (const item of items) {
    bytes += Buffer.byteLength(item) + 1;
    if (count === BATCH_ITEMS || (count > 0 && bytes > BATCH_BYTES)) break;
    count++;
  }
  return items.splice(0, count);
}
