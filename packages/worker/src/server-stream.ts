import type { Holding, WorkerConnection, WorkerFrame, WorkerProtocol } from "@engine/contract";
import { Backoff } from "./backoff.ts";
import type { Outage } from "./outage.ts";
import { type Session, WorkerEnded } from "./session.ts";
import { delay, type SetTimer } from "./world.ts";

/** A stream without a frame for so many heartbeat intervals counts as down (WRK-8). */
const SILENT_INTERVALS = 3;

export interface ServerStreamOptions {
  readonly link: WorkerProtocol;
  readonly session: Session;
  readonly outage: Outage;
  readonly setTimer: SetTimer;
  readonly random: () => number;
  readonly life: AbortSignal;
  /** What the worker holds at this moment: the server reconciles by it (WRK-9). */
  holdings(): readonly Holding[];
  onFrame(frame: WorkerFrame): void;
}

/** Keeps a stream open for as long as the worker lives. Running bodies do not notice its gaps. */
export class ServerStream {
  readonly #options: ServerStreamOptions;
  readonly #backoff: Backoff;
  #connection: WorkerConnection | undefined;
  /** Grows with every stream; frames of an earlier one are not listened to. */
  #epoch = 0;

  constructor(options: ServerStreamOptions) {
    this.#options = options;
    this.#backoff = new Backoff(options.random);
  }

  /** Settles when the worker has ended. */
  async run(): Promise<void> {
    const { outage, setTimer, life } = this.#options;
    life.addEventListener("abort", () => this.reconnect());
    while (!life.aborted) {
      try {
        await this.#once();
      } catch (error) {
        if (error instanceof WorkerEnded) return;
        outage.failed(error);
      }
      await delay(setTimer, this.#backoff.next(), life);
    }
  }

  /** Ends the present stream; {@link run} opens the next one. */
  reconnect(): void {
    this.#epoch++;
    this.#connection?.close();
  }

  async #once(): Promise<void> {
    const { link, session, outage, setTimer, holdings, onFrame } = this.#options;
    const { heartbeat_seconds } = await session.registered();
    const epoch = ++this.#epoch;
    const silence = Promise.withResolvers<void>();
    let cancel = () => {};
    // Set anew by every frame, so that a process that was stopped finds it due when it goes on.
    const rearm = () => {
      cancel();
      cancel = setTimer(silence.resolve, SILENT_INTERVALS * heartbeat_seconds * 1000);
    };

    try {
      const connection = await session.call((ref) => {
        rearm();
        return link.connect(ref, holdings(), (frame) => {
          if (epoch !== this.#epoch) return;
          rearm();
          if (frame.event === "welcome") {
            this.#backoff.reset();
            outage.over();
          }
          onFrame(frame);
        });
      });
      this.#connection = connection;
      if (epoch === this.#epoch) await Promise.race([connection.closed, silence.promise]);
      connection.close();
    } finally {
      cancel();
      this.#connection = undefined;
    }
  }
}
