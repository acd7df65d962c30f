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
  #running: Promise<void> | undefined;
  #isAskedAgain = false;
  #isLeading = false;
  #isClosed = false;
  #cancelTimer: (() => void) | undefined;
  #cancelTick: (() => void) | undefined;
  readonly #unlisten: () => void;

  constructor(parts: Parts) {
    this.#parts = parts;
    const { bus, replicas } = parts;
    bus.listen(({ kind }) => {
      if (kind === "deliveries" && this.#isLeading) this.#arm();
    });
    this.#unlisten = parts.ports.store.outbox.onDeliveries(() => this.wake());
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
    this.stop();
    await this.#running;
  }

  /** Something is due: a commit has written deliveries, one was handed back, a hook was changed. */
  wake(): void {
    const { enabled, event_drain } = this.#parts.ports.config.hooks;
    if (!enabled || !event_drain || this.#isClosed) return;
    this.#isAskedAgain = true;
    this.#running ??= this.#untilQuiet().finally(() => {
      this.#running = undefined;
      this.#arm();
    });
  }

  async #untilQuiet(): Promise<void> {
    while (this.#isAskedAgain && !this.#isClosed) {
      this.#isAskedAgain = false;
      try {
        while ((await this.#pass()) > 0 && !this.#isClosed);
      } catch (error) {
        this.#parts.ports.log.error({ err: error }, "could not read what hooks have to start");
        this.#armIn(AGAIN_MS);
      }
    }
  }

  /** What nothing else has woken anybody for (HOOK-25). */
  async #tick(): Promise<void> {
    try {
      await this.#pass();
    } catch (error) {
      this.#parts.ports.log.error({ err: error }, "could not read what hooks have to start");
    }
    this.#arm();
  }

  /** Tries a batch of what is due. @returns How many rows have moved on. */
  async #pass(): Promise<number> {
    const { store, clock, config } = this.#parts.ports;
    const due = await store.deliveries.due({
      now: clock(),
      limit: config.hooks.drain_batch_size,
      after: this.#after,
      but: [...this.#trying],
    });
    this.#after = due.at(-1)?.hook ?? this.#after;
    const moved = await Promise.all(due.map((delivery) => this.#try(delivery)));
    return moved.filter(Boolean).length;
  }

  async #try(delivery: DueDelivery): Promise<boolean> {
    const { id, hook } = delivery;
    const { bus } = this.#parts;
    this.#trying.add(id);
    try {
      const outcome = await this.#parts.tries.settle(delivery);
      // Whoever leads aims at the next try.
      if (outcome === "deferred" && !this.#isLeading) void bus.send({ kind: "deliveries" });
      return true;
    } catch (error) {
      const fields = { err: error, hook, delivery: id };
      this.#parts.ports.log.error(fields, "could not write down what became of a delivery");
      return false;
    } finally {
      this.#trying.delete(id);
    }
  }

  #arm(): void {
    if (!this.#isLeading || this.#isClosed || !this.#parts.ports.config.hooks.event_drain) return;
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
