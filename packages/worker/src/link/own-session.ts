import type { SessionRef, WorkerRegistered, WorkerRegistration } from "@engine/contract";
import { Backoff } from "../backoff.ts";
import { registered } from "../failpoints.ts";
import { hasCode, isTransient } from "../transient.ts";
import { delay, type World } from "../world.ts";
import type { Outage } from "./outage.ts";
import { spokenByBoth } from "./spoken-protocol.ts";
import type { Calls } from "./text-link.ts";

/** Once `life` has aborted, every call rejects. */
export interface OwnSessionOptions extends Pick<World, "setTimer" | "random" | "life"> {
  readonly link: Calls;
  readonly registration: WorkerRegistration;
  readonly outage: Outage;
  /** The session was registered anew, so the stream belongs to a session that is gone. */
  onRenewed(): void;
  /** The server wants nothing more of this process: another one took its name, or it is refused. */
  onRefused(error: unknown): void;
}

/** Thrown by calls of a worker that has ended; not worth a line of its log. */
export class WorkerEnded extends Error {
  override readonly name = "WorkerEnded";
}

/**
 * The worker's standing with the server (WRK-3, WRK-4). It registers when it first has to and
 * again, under the same `instance_id`, whenever the server does not know the session any more.
 */
export class OwnSession {
  readonly #options: OwnSessionOptions;
  #current: Promise<WorkerRegistered> | undefined;
  #answer: WorkerRegistered | undefined;

  constructor(options: OwnSessionOptions) {
    this.#options = options;
  }

  get isRegistered(): boolean {
    return this.#answer !== undefined;
  }

  /** What registration answered last. Only for code that runs after it, as handlers of frames do. */
  get answer(): WorkerRegistered {
    if (!this.#answer) throw new Error("the session is not registered yet");
    return this.#answer;
  }

  /** What registration answered. Waits for it. */
  registered(): Promise<WorkerRegistered> {
    this.#current ??= this.#register();
    return this.#current;
  }

  /** Makes one call; only a lost session, or credential, makes it again. */
  async call<T>(send: (ref: SessionRef) => Promise<T>): Promise<T> {
    const backoff = new Backoff(this.#options.random);
    for (;;) {
      const current = this.registered();
      const { session } = await current;
      this.#assertAlive();
      try {
        return await send({ worker: this.#options.registration.name, session });
      } catch (error) {
        if (hasCode(error, "session_superseded")) this.#options.onRefused(error);
        // Without a credential that counts it does as at its start (AUTH-62).
        const isUnknown = hasCode(error, "session_unknown") || hasCode(error, "unauthenticated");
        if (!isUnknown) throw error;
        if (this.#current === current) {
          await this.#wait(backoff);
          if (this.#current === current) this.#renew();
        }
      }
    }
  }

  /** Makes a call until the answer is certain: network trouble, 429 and 5xx are tried again. */
  async persist<T>(
    send: (ref: SessionRef) => Promise<T>,
    { tries = Number.POSITIVE_INFINITY }: { tries?: number } = {},
  ): Promise<T> {
    const backoff = new Backoff(this.#options.random);
    for (let n = 1; ; n++) {
      try {
        return await this.call(send);
      } catch (error) {
        if (error instanceof WorkerEnded || !isTransient(error) || n >= tries) throw error;
        await this.#wait(backoff);
      }
    }
  }

  #renew(): void {
    this.#current = this.#register();
    this.#current.then(
      () => this.#options.onRenewed(),
      () => {},
    );
  }

  async #register(): Promise<WorkerRegistered> {
    const { link, registration, outage, random } = this.#options;
    const backoff = new Backoff(random);
    let { protocol } = registration;
    for (;;) {
      this.#assertAlive();
      try {
        const answer = await link.register({ ...registration, protocol });
        if (registered.hasSubscribers) registered.publish({ of: [] });
        this.#answer = answer;
        outage.over();
        return answer;
      } catch (error) {
        const older = spokenByBoth(error, protocol);
        if (older !== undefined) {
          protocol = older;
          continue;
        }
        if (!isTransient(error)) {
          this.#options.onRefused(error);
          throw error;
        }
        outage.failed(error);
      }
      await this.#wait(backoff);
    }
  }

  async #wait(backoff: Backoff): Promise<void> {
    const { setTimer, life } = this.#options;
    await delay(setTimer, backoff.next(), life);
    this.#assertAlive();
  }

  #assertAlive(): void {
    if (this.#options.life.aborted) throw new WorkerEnded("the worker has ended");
  }
}
