import type { ExecutionSummary } from "@engine/contract";
import type { Http } from "../harness/http.ts";

const AGAIN_MS = 50;
const PER_PAGE = 200;
const OPEN = ["CREATED", "CLAIMED", "RUNNING", "PAUSED", "RESUMING", "CANCELLING"];

type Open = ReadonlyMap<string, ExecutionSummary>;

/** Looks at all executions that have not ended, again and again, for however many that wait for something. */
export class Watch implements Disposable {
  readonly #http: Http;
  readonly #waiting = new Set<() => void>();
  #open: Open = new Map();
  /** Grows with each look that has begun. */
  #looks = 0;
  #isOver = false;

  constructor(http: Http) {
    this.#http = http;
    void this.#look();
  }

  /** As the newest look found them. */
  get open(): Open {
    return this.#open;
  }

  /** Resolves with what `find` gives of a look that has begun after now, once it gives something. */
  async until<Found>(
    what: string,
    find: (open: Open) => Found | undefined | Promise<Found | undefined>,
    limitMs: number,
  ): Promise<Found> {
    const deadline = performance.now() + limitMs;
    const from = this.#looks;
    for (;;) {
      await this.#next();
      if (this.#looks > from) {
        const found = await find(this.#open);
        if (found !== undefined) return found;
      }
      if (performance.now() > deadline) throw new Error(`waited ${limitMs} ms in vain: ${what}`);
    }
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
  }

  #next(): Promise<void> {
    return new Promise((resolve) => this.#waiting.add(resolve));
  }

  async #look(): Promise<void> {
    while (!this.#isOver) {
      this.#looks++;
      // A server that is busy or away is asked again.
      this.#open = (await this.#list().catch(() => undefined)) ?? this.#open;
      const waiting = [...this.#waiting];
      this.#waiting.clear();
      for (const tell of waiting) tell();
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    }
  }

  async #list(): Promise<Open> {
    const found = new Map<string, ExecutionSummary>();
    const states = OPEN.map((state) => `state=${state}`).join("&");
    for (let offset = 0; ; offset += PER_PAGE) {
      const path = `/executions?${states}&order=created_asc&limit=${PER_PAGE}&offset=${offset}`;
      const { status, body } = await this.#http.get<{ items: ExecutionSummary[] }>(path);
      if (status !== 200) throw new Error(`${path}: ${status}`);
      for (const one of body.items) found.set(one.execution_id, one);
      if (body.items.length < PER_PAGE) return found;
    }
  }
}
