import { setImmediate } from "node:timers/promises";
import type { Json } from "@engine/contract";
import type { LoggedEvent, Store } from "@engine/store";

/** How heavy a page should be, roughly; a single event may be heavier. */
const WANTED_BYTES = 128 * 1024;
const FIRST_EVENTS = 1;
const MOST_EVENTS = 512;

type Log = { readonly log: Pick<Store["log"], "read"> };

/** A turn takes one new connection: requests that come while pages are read get in between them. */
const TURNS_BETWEEN = 4;

/**
 * Lets one caller go on at a time, the first at once, and the loop go round some times in between:
 * logs that many readers want together leave room for other requests.
 */
export class Turns {
  #next: Promise<void> = Promise.resolve();

  next(): Promise<void> {
    const mine = this.#next;
    this.#next = mine.then(async () => {
      for (let turn = 0; turn < TURNS_BETWEEN; turn++) await setImmediate();
    });
    return mine;
  }
}

/**
 * Reads a log on, page by page. The pages are about equally heavy, whatever their events weigh, so that
 * a reader makes the server hold a page and not the log.
 */
export class LogPages {
  readonly #store: Log;
  readonly #turns: Turns;
  readonly #execution_id: string;
  #events = FIRST_EVENTS;

  constructor(store: Log, turns: Turns, execution_id: string) {
    this.#store = store;
    this.#turns = turns;
    this.#execution_id = execution_id;
  }

  /** The events behind `seq`, as many as a page has; none at the end. */
  async after(seq: number): Promise<readonly LoggedEvent[]> {
    await this.#turns.next();
    const limit = this.#events;
    const page = await this.#store.log.read(this.#execution_id, { after: seq, limit });
    let bytes = 0;
    for (const { event } of page) bytes += weightOf(event.value);
    if (bytes > 2 * WANTED_BYTES) this.#events = Math.max(1, limit >> 1);
    else if (2 * bytes < WANTED_BYTES) this.#events = Math.min(MOST_EVENTS, 2 * limit);
    return page;
  }

  /** Page by page what lies behind `seq`, up to and with `last`. */
  async *between(seq: number, last: number): AsyncGenerator<readonly LoggedEvent[], void> {
    for (let after = seq; after < last; ) {
      const page = (await this.after(after)).filter(({ event }) => event.seq <= last);
      const end = page.at(-1)?.event.seq;
      // The execution has been deleted meanwhile.
      if (end === undefined) return;
      yield page;
      after = end;
    }
  }
}

/** Roughly how many bytes a value takes as text. */
export function weightOf(value: Json): number {
  if (typeof value === "string") return value.length + 2;
  if (typeof value !== "object" || value === null) return 8;
  let bytes = 2;
  if (Array.isArray(value)) for (const item of value) bytes += weightOf(item) + 1;
  else for (const key in value) bytes += key.length + 4 + weightOf(value[key] as Json);
  return bytes;
}
