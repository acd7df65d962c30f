import type { EnginePorts } from "../engine-ports.ts";
import { every } from "../every.ts";
import { recovered } from "../failpoints.ts";

/** How often a server asks whether it may lead. The lead of a killed server is free at once. */
const ASK_MS = 2_000;

/** Work that one server does for all of them. */
export interface LedWork {
  /** Called when this server begins to lead; may be called again after `stop`. */
  start(): Promise<void>;
  stop(): void;
}

type Ports = Pick<EnginePorts, "store" | "setTimer" | "log">;

/**
 * Periodic work runs on one server at a time: timers, schedules, sweeps, retention. Two servers may
 * believe for a moment that they lead, so all of that work must be right when it is done twice. A store
 * that has only one server is always led by it.
 */
export class Leadership {
  readonly #ports: Ports;
  readonly #works: LedWork[] = [];
  #isLeading = false;
  #isClosed = false;
  #cancel: (() => void) | undefined;
  #release: (() => Promise<void>) | undefined;

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  add(work: LedWork): void {
    this.#works.push(work);
  }

  /** Rejects when the first look at the store fails. */
  async start(): Promise<void> {
    if (!this.#ports.store.replicas.lead) return this.#begin();
    await this.#ask();
    if (this.#isClosed) return;
    this.#cancel = every(this.#ports.setTimer, { ms: ASK_MS }, () => this.#askAgain());
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancel?.();
    const release = this.#release;
    this.#end();
    await release?.();
  }

  async #askAgain(): Promise<void> {
    try {
      if (!this.#isLeading) await this.#ask();
    } catch (error) {
      this.#ports.log.debug({ err: error }, "could not ask for the lead");
    }
  }

  async #ask(): Promise<void> {
    const lead = await this.#ports.store.replicas.lead?.("upkeep");
    if (!lead) return;
    if (this.#isClosed) return lead.release();
    this.#release = () => lead.release();
    lead.lost.addEventListener("abort", () => this.#end(), { once: true });
    if (!lead.lost.aborted) await this.#begin();
  }

  async #begin(): Promise<void> {
    this.#isLeading = true;
    try {
      await Promise.all(this.#works.map((work) => work.start()));
      if (recovered.hasSubscribers) recovered.publish({ of: ["lead"] });
    } catch (error) {
      const release = this.#release;
      this.#end();
      await release?.();
      throw error;
    }
  }

  #end(): void {
    if (!this.#isLeading) return;
    this.#isLeading = false;
    this.#release = undefined;
    for (const work of this.#works) work.stop();
  }
}
