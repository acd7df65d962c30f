import { grantedServices, labelsWithGrants, type WorkerAttributes } from "@engine/contract";
import type { HeldAttributes, SessionRow } from "@engine/store";

const NOTHING_SAID: HeldAttributes = { metadata: {}, granted: [], revision: 0 };

/**
 * What a worker is known by: its session's own labels and services, together with what operators have
 * said of its name, as this server read it last; and which services its process was told of (WMD-3).
 */
export class SessionAttributes implements WorkerAttributes {
  #held = NOTHING_SAID;
  #own: Pick<SessionRow, "labels" | "services">;
  #services: readonly string[] = [];
  #labels: WorkerAttributes["labels"];
  /** Undefined: nobody knows what it heard. */
  #told: readonly string[] | undefined = [];

  constructor(own: Pick<SessionRow, "labels" | "services">) {
    this.#own = own;
    this.#labels = own.labels;
  }

  /** Its own labels, and one for each service that it offers and was granted. */
  get labels(): WorkerAttributes["labels"] {
    return this.#labels;
  }

  get metadata(): WorkerAttributes["metadata"] {
    return this.#held.metadata;
  }

  get revision(): number {
    return this.#held.revision;
  }

  /** Those that it offers and was granted. */
  get services(): readonly string[] {
    return this.#services;
  }

  /** The same process may register again with other services. */
  own(own: Pick<SessionRow, "labels" | "services">): void {
    this.#own = own;
    this.#combine();
  }

  /** @returns false when they are known already, or older than what is known. */
  see(held: HeldAttributes): boolean {
    if (held.revision <= this.#held.revision) return false;
    this.#held = held;
    this.#combine();
    return true;
  }

  /** Whether its process knows which services it has. */
  get isTold(): boolean {
    return this.#told?.join() === this.#services.join();
  }

  /** Those that it has, for a frame that leaves now. */
  tell(): string[] {
    this.#told = this.#services;
    return [...this.#services];
  }

  /** The frame may have been heard, or not. */
  forgetTold(): void {
    this.#told = undefined;
  }

  #combine(): void {
    const { labels, services } = this.#own;
    this.#services = grantedServices(services, this.#held.granted);
    this.#labels = labelsWithGrants(labels, this.#services);
  }
}
