import type { InnerPorts } from "../engine-ports.ts";
import type { Held } from "./holdings.ts";
import { missedEvents } from "./reconcile.ts";
import type { Session } from "./session.ts";
import type { Sessions } from "./sessions.ts";

/** After this time a worker should have shown that it has heard of a cancel (DSP-9). */
const REPEAT_MS = 5_000;

/** Sends workers events again that they have not shown to know. A repeat changes nothing there. */
export class Repeats {
  readonly #ports: Pick<InnerPorts, "store" | "seals" | "setTimer" | "log">;
  /** By execution. */
  readonly #timers = new Map<string, () => void>();
  #isClosed = false;

  constructor(parts: {
    readonly ports: Pick<InnerPorts, "store" | "seals" | "setTimer" | "log">;
    readonly sessions: Sessions;
  }) {
    this.#ports = parts.ports;
    parts.sessions.onPush((session, of, events) => {
      if (events.some(({ type }) => type === "WORKFLOW_CANCELLING")) this.watch(session, of);
    });
  }

  /** Looks every few seconds whether the worker knows the events it was sent, until it does. */
  watch(session: Session, of: Held): void {
    const { execution_id } = of;
    this.#timers.get(execution_id)?.();
    this.#timers.delete(execution_id);
    if (this.#isClosed || session.holdings.unacknowledged(of) === undefined) return;
    const look = () => {
      const from = session.holdings.unacknowledged(of);
      if (from !== undefined) this.send(session, of, from);
      this.watch(session, of);
    };
    this.#timers.set(execution_id, this.#ports.setTimer(look, REPEAT_MS));
  }

  /** Sends the events behind that `seq`. */
  send(session: Session, of: Held, seq: number): void {
    const { execution_id, generation } = of;
    missedEvents(this.#ports, { ...of, seq }, generation).then(
      (frame) => {
        if (frame && session.holdings.owns(of)) session.holdings.tell(execution_id, frame);
      },
      (error: unknown) => this.#ports.log.warn({ err: error }, "could not push events again"),
    );
  }

  close(): void {
    this.#isClosed = true;
    for (const cancel of this.#timers.values()) cancel();
  }
}
