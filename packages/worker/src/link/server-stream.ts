import type {
  DispatchMode,
  Heartbeat,
  Holding,
  SessionRef,
  WorkerConnection,
  WorkerFrame,
} from "@engine/contract";
import { Backoff } from "../backoff.ts";
import { delay, type World } from "../world.ts";
import type { Outage } from "./outage.ts";
import { type OwnSession, WorkerEnded } from "./own-session.ts";
import { openPolls } from "./polls.ts";
import type { ServerClock } from "./server-clock.ts";
import { Silence } from "./silence.ts";
import type { Calls, TextCalls } from "./text-link.ts";

/** A stream without a frame for so many heartbeat intervals counts as down (WRK-8). */
const SILENT_INTERVALS = 3;
/** Longest wait that a poll may ask for. */
const LONGEST_POLL_SECONDS = 30;

export interface ServerStreamOptions
  extends Pick<World, "setTimer" | "monotonic" | "random" | "life"> {
  readonly link: Calls;
  readonly leaveServer: TextCalls["leaveServer"];
  readonly session: OwnSession;
  readonly outage: Outage;
  readonly serverClock: ServerClock;
  /** In place of the mode that the server would like. */
  readonly dispatch: DispatchMode | undefined;
  /** What the worker holds at this moment: the server reconciles by it (WRK-9). */
  holdings(): readonly Holding[];
  /** What it says of itself with a poll. */
  status(): Heartbeat;
  onFrame(frame: WorkerFrame): void;
  /** Whether the server is heard: only then may bodies start (WRK-8). */
  onHeard(isHeard: boolean): void;
}

/** Keeps a stream open for as long as the worker lives. Running bodies do not notice its gaps. */
export class ServerStream {
  readonly #options: ServerStreamOptions;
  readonly #backoff: Backoff;
  #connection: WorkerConnection | undefined;
  #mode: DispatchMode = "event";
  /** Grows with every stream; frames of an earlier one are not listened to. */
  #epoch = 0;

  constructor(options: ServerStreamOptions) {
    this.#options = options;
    this.#backoff = new Backoff(options.random);
  }

  /** Frames come as answers to polls, each of which is a heartbeat. */
  get isPolling(): boolean {
    return this.#mode === "poll";
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

  /** Goes over to another server in a while; until then the present stream serves on (WRK-13). */
  async move(ms: number): Promise<void> {
    const { leaveServer, life, setTimer } = this.#options;
    const epoch = this.#epoch;
    await delay(setTimer, ms, life);
    leaveServer();
    if (epoch === this.#epoch) this.reconnect();
  }

  async #once(): Promise<void> {
    const { session, serverClock, setTimer, monotonic, onFrame, onHeard } = this.#options;
    const { heartbeat_seconds, dispatch } = await session.registered();
    this.#mode = this.#options.dispatch ?? dispatch;
    const epoch = ++this.#epoch;
    const longestMs = SILENT_INTERVALS * heartbeat_seconds * 1000;
    let silence = new Silence({ setTimer, monotonic, longestMs });
    let sentAt = monotonic();
    const listener = {
      // Frames of a stream that counts as down are not listened to: the next one says it all again.
      onFrame: (frame: WorkerFrame) => {
        if (epoch !== this.#epoch || !silence.heard()) return;
        if (frame.event === "welcome") {
          const { server_time } = frame.data;
          // Before anything is assigned, so that no body begins by another clock.
          serverClock.measured(server_time, { sentAt, heardAt: monotonic() });
          this.#welcomed();
        }
        onFrame(frame);
      },
      onAnswer: () => void silence.heard(),
    };

    try {
      const connection = await session.call((ref) => {
        // Begun here and not before: the call may have had to wait for a session.
        silence.end();
        silence = new Silence({ setTimer, monotonic, longestMs });
        sentAt = monotonic();
        return this.#open(ref, heartbeat_seconds, listener);
      });
      this.#connection = connection;
      if (epoch === this.#epoch) {
        if (this.isPolling) this.#welcomed();
        await Promise.race([connection.closed, silence.tooLong]);
      }
      connection.close();
    } finally {
      onHeard(false);
      silence.end();
      this.#connection = undefined;
    }
  }

  #open(
    ref: SessionRef,
    heartbeat_seconds: number,
    listener: { onFrame(frame: WorkerFrame): void; onAnswer(): void },
  ): Promise<WorkerConnection> {
    const { link, holdings } = this.#options;
    if (!this.isPolling) return link.connect(ref, holdings(), listener.onFrame);
    const waitSeconds = Math.min(heartbeat_seconds, LONGEST_POLL_SECONDS);
    return openPolls(ref, { ...this.#options, ...listener, waitSeconds });
  }

  #welcomed(): void {
    this.#backoff.reset();
    this.#options.outage.over();
    this.#options.onHeard(true);
  }
}
