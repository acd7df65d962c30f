/**
 * Starts the targets of hooks. Rows of the outbox are the truth; who tries one does not matter for what
 * becomes of it (HOOK-26), only for how soon: the server that wrote a row tries it at once, and the one
 * that leads takes up what is left, as after a crash.
 */
import type { DueDelivery } from "@engine/store";
import type { Domain } from "../domain.ts";
import type { EnginePorts } from "../engine-ports.ts";
import { every } from "../every.ts";
import type { Bus } from "../replicas/bus.ts";
import type { LedWork } from "../replicas/leadership.ts";
import type { Replicas } from "../replicas/replicas.ts";
import type { DeliveryTries } from "./delivery-tries.ts";
import { OwnDeliveries } from "./own-deliveries.ts";

interface Parts {
  readonly ports: Pick<EnginePorts, "store" | "clock" | "setTimer" | "config" | "log">;
  readonly bus: Bus;
  readonly replicas: Pick<Replicas, "onGone">;
  readonly tries: Pick<DeliveryTries, "settle">;
}

/** After a pass that could not read the outbox. */
const AGAIN_MS = 1_000;
/** A timer aims no further: the clock may be set meanwhile. */
const LONGEST_MS = 60_000;

export class Drain implements Domain, LedWork {
  readonly led: LedWork = this;
  readonly #parts: Parts;
  /** The hook at which the last pass stopped: the next one begins behind it (HOOK-24). */
  #after: string | null = null;
  /** Ids of rows that are being tried. */
  readonly #trying = new Set<string>();
  /** Batches are read one after another, so that a tick takes nothing that is being tried. */
  #taken: Promise<unknown> = Promise.resolve();
  /** What this server's commits have written. */
  readonly #own = new OwnDeliveries();
  /** Everything that is due is wanted, whoever wrote it. */
  #isAllWanted = false;
  /** Rows may have been put off since somebody last aimed at the next one. */
  #hasDeferred = false;
  #running: Promise<void> | undefined;
  #isLeading = false;
  #isClosed = false;
  /** The outbox could not be read: nothing is tried until a timer has passed. */
  #isHeld = false;
  #cancelHold: (() => void) | undefined;
  #cancelTimer: (() => void) | undefined;
  #cancelTick: (() => void) | undefined;
  readonly #unlisten: () => void;

  constructor(parts: Parts) {
    this.#parts = parts;
    const { bus, replicas } = parts;
    bus.listen(({ kind }) => {
      if (kind === "deliveries" && this.#isLeading) this.#arm();
    });
    this.#unlisten = parts.ports.store.outbox.onDeliveries((written) => {
      if (!this.#isByEvents) return;
      if (!this.#own.add(written)) this.#isAllWanted = true;
      this.#go();
    });
    replicas.onGone(() => {
      if (this.#isLeading) this.wake();
    });
  }

  /** Takes up what an earlier life, or another server, has left. */
  async start(): Promise<void> {
    const { setTimer, config } = this.#parts.ports;
    this.#isLeading = true;
    if (!config.hooks.enabled) return;
    const ms = config.scheduling.poll_interval * 1000;
    this.#cancelTick = every(setTimer, { ms }, () => this.#tick());
    // The start of a server does not wait for it.
    this.wake();
  }

  stop(): void {
    this.#isLeading = false;
    this.#cancelTick?.();
    this.#cancelTimer?.();
  }

  /** Settles once nothing is being tried any more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#unlisten();
    this.#cancelHold?.();
    this.stop();
    await this.#running;
  }

  /** Something is due that no commit of this server has told of: one was handed back, a hook was changed. */
  wake(): void {
    if (!this.#isByEvents) return;
    this.#isAllWanted = true;
    // Among what is due there may be what is due later.
    this.#hasDeferred = true;
    this.#go();
  }

  get #isByEvents(): boolean {
    const { enabled, event_drain } = this.#parts.ports.config.hooks;
    return enabled && event_drain && !this.#isClosed;
  }

  #go(): void {
    if (this.#isClosed || this.#isHeld || (this.#own.isEmpty && !this.#isAllWanted)) return;
    this.#running ??= this.#untilNothingIsLeft().finally(() => {
      this.#running = undefined;
      if (this.#hasDeferred) this.#arm();
      // For what came since the last pass.
      this.#go();
    });
  }

  async #untilNothingIsLeft(): Promise<void> {
    try {
      while (!this.#isClosed && !this.#isHeld) {
        const due = await this.#take();
        if (!due) return;
        // What cannot even be written down is tried again later, and so is all behind it.
        if (!(await this.#tryAll(due)) && due.length > 0) this.#laterAll();
      }
    } catch (error) {
      this.#couldNotRead(error);
      this.#laterAll();
    }
  }

  /** What nothing else has woken anybody for (HOOK-25): one pass. */
  async #tick(): Promise<void> {
    try {
      const due = await this.#inTurn(() => this.#takeDue());
      const hasMoved = await this.#tryAll(due);
      // Behind a whole batch there may be any number.
      if (hasMoved && due.length >= this.#parts.ports.config.hooks.drain_batch_size) this.wake();
    } catch (error) {
      this.#couldNotRead(error);
    }
    this.#arm();
  }

  /** Undefined once there is nothing left. */
  #take(): Promise<readonly DueDelivery[] | undefined> {
    return this.#inTurn(async () => {
      if (this.#isAllWanted) {
        // Whoever asks from now on asks for more than what this reads.
        this.#isAllWanted = false;
        const due = await this.#takeDue();
        if (due.length > 0) {
          this.#isAllWanted = true;
          return due;
        }
      }
      return this.#own.isEmpty ? undefined : this.#takeOwn();
    });
  }

  async #takeOwn(): Promise<readonly DueDelivery[]> {
    const { store, clock, config } = this.#parts.ports;
    const taken = this.#own.take(config.hooks.drain_batch_size, this.#after);
    const free = taken.filter(({ id }) => !this.#trying.has(id));
    const due = await store.deliveries.dueAmong(free, clock());
    return this.#held(due, taken.at(-1)?.hook);
  }

  async #takeDue(): Promise<readonly DueDelivery[]> {
    const { store, clock, config } = this.#parts.ports;
    const limit = config.hooks.drain_batch_size;
    const but = [...this.#trying];
    const due = await store.deliveries.due({ now: clock(), limit, after: this.#after, but });
    return this.#held(due, due.at(-1)?.hook);
  }

  #held(due: readonly DueDelivery[], last: string | undefined): readonly DueDelivery[] {
    this.#after = last ?? this.#after;
    for (const { id } of due) this.#trying.add(id);
    this.#own.remove(due);
    return due;
  }

  #inTurn<Value>(take: () => Promise<Value>): Promise<Value> {
    const taken = this.#taken.then(take);
    this.#taken = taken.catch(() => {});
    return taken;
  }

  /** @returns Whether any row has moved on. */
  async #tryAll(due: readonly DueDelivery[]): Promise<boolean> {
    const moved = await Promise.all(due.map((delivery) => this.#try(delivery)));
    return moved.includes(true);
  }

  async #try(delivery: DueDelivery): Promise<boolean> {
    const { id, hook } = delivery;
    const { bus } = this.#parts;
    try {
      const outcome = await this.#parts.tries.settle(delivery);
      // Whoever leads aims at the next try.
      if (outcome === "deferred" && this.#isLeading) this.#hasDeferred = true;
      else if (outcome === "deferred") void bus.send({ kind: "deliveries" });
      return true;
    } catch (error) {
      const fields = { err: error, hook, delivery: id };
      this.#parts.ports.log.error(fields, "could not write down what became of a delivery");
      return false;
    } finally {
      this.#trying.delete(id);
    }
  }

  #couldNotRead(error: unknown): void {
    this.#parts.ports.log.error({ err: error }, "could not read what hooks have to start");
  }

  /** Everything is asked for after a while: also what it has taken of its own and not tried. */
  #laterAll(): void {
    this.#isAllWanted = true;
    this.#isHeld = true;
    this.#cancelHold?.();
    this.#cancelHold = this.#parts.ports.setTimer(() => {
      this.#isHeld = false;
      this.#go();
    }, AGAIN_MS);
  }

  #arm(): void {
    if (!this.#isLeading || this.#isClosed || !this.#parts.ports.config.hooks.event_drain) return;
    this.#hasDeferred = false;
    void this.#untilNext().then(
      (ms) => ms !== undefined && this.#armIn(ms),
      () => this.#armIn(AGAIN_MS),
    );
  }

  async #untilNext(): Promise<number | undefined> {
    const { store, clock } = this.#parts.ports;
    const now = clock();
    const next = await store.deliveries.nextDueAt(now);
    return next === undefined ? undefined : Math.min(Math.max(next - now, 1), LONGEST_MS);
  }

  #armIn(ms: number): void {
    this.#cancelTimer?.();
    if (this.#isClosed || !this.#isLeading) return;
    this.#cancelTimer = this.#parts.ports.setTimer(() => this.wake(), ms);
  }
}
