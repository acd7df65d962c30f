import type { ProgressItem } from "@engine/contract";
import type { Changed } from "@engine/store";
import type { Domain } from "../domain.ts";
import type { EnginePorts } from "../engine-ports.ts";
import type { Bus } from "../replicas/bus.ts";
import type { Replicas } from "../replicas/replicas.ts";
import type { MaskSets } from "../secrets/mask-set.ts";
import type { Sessions } from "../workers/sessions.ts";
import { ProgressMasks } from "./progress-masks.ts";

/** Takes values for the readers of one execution; settles once they are on their way. */
export type ProgressReader = (items: readonly ProgressItem[]) => Promise<void>;

interface Channel {
  readonly readers: Set<ProgressReader>;
  /** Cancels the pending "nobody listens any more". */
  cancelOff: (() => void) | undefined;
}

/** How long values still come after the last reader left, who may only be reloading a page (PRG-2). */
const LINGER_MS = 1000;

interface Parts {
  readonly ports: Pick<EnginePorts, "setTimer" | "log">;
  /** What nobody may read of values that come in here; absent: they pass as they are. */
  readonly masks?: Pick<MaskSets, "known" | "current"> | undefined;
  readonly bus: Bus;
  readonly replicas: Pick<Replicas, "onGone" | "hasPeers">;
  /** Tells the owner of an execution when readers come, and when the last one has left. */
  readonly sessions: Pick<Sessions, "tellListening">;
}

/**
 * Hands progress values of running tasks to readers, on any server (PRG-6). Nothing is kept: without a
 * reader there is no channel, and the owner of the execution is told not to send.
 */
export class ProgressHub implements Domain {
  readonly #parts: Parts;
  /** Readers on this server. */
  readonly #channels = new Map<string, Channel>();
  /** Other servers with readers, by execution. */
  readonly #elsewhere = new Map<string, Set<string>>();
  readonly #masks: ProgressMasks;
  #isClosed = false;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#masks = new ProgressMasks({ masks: parts.masks, log: parts.ports.log });
    parts.bus.listen((message, from) => {
      if (message.kind === "watch") this.#watchedBy(from, message.id, message.on);
      else if (message.kind === "watching") this.#watchedAll(from, message.ids);
      else if (message.kind === "progress") void this.#tell(message.id, message.items);
      // A server that has just come has not heard what is watched here.
      else if (message.kind === "hello") void this.refresh();
      else if (message.kind === "goodbye") this.#watchedAll(from, []);
    });
    parts.replicas.onGone((replica) => this.#watchedAll(replica, []));
  }

  /** Adds a reader; the answer takes it out again. */
  join(execution_id: string, reader: ProgressReader): () => void {
    const channel = this.#channels.get(execution_id) ?? this.#open(execution_id);
    channel.cancelOff?.();
    channel.cancelOff = undefined;
    channel.readers.add(reader);
    return () => {
      if (!channel.readers.delete(reader) || channel.readers.size > 0 || this.#isClosed) return;
      channel.cancelOff = this.#parts.ports.setTimer(() => {
        this.#channels.delete(execution_id);
        void this.#parts.bus.send({ kind: "watch", id: execution_id, on: false });
        this.#update(execution_id, true);
      }, LINGER_MS);
    };
  }

  isWatched(execution_id: string): boolean {
    return this.#channels.has(execution_id) || this.#elsewhere.has(execution_id);
  }

  /** Tells the other servers everything that is watched here, in case they missed a part. */
  async refresh(): Promise<void> {
    if (!this.#parts.replicas.hasPeers) return;
    await this.#parts.bus.send({ kind: "watching", ids: [...this.#channels.keys()] });
  }

  /** Settles once the values are on their way everywhere: what the worker sends next comes after them. */
  async publish(execution_id: string, items: readonly ProgressItem[]): Promise<void> {
    if (!this.isWatched(execution_id)) return;
    const shown = this.#masks.shown(execution_id, items);
    await this.#pass(execution_id, shown instanceof Promise ? await shown : shown);
  }

  /** What was held back of a call goes before the event that ends the call. */
  onCommit({ row: { execution_id }, events }: Changed): void {
    const held = this.#masks.ended(execution_id, events);
    if (held.length > 0) void this.#pass(execution_id, held);
  }

  async #pass(execution_id: string, items: readonly ProgressItem[]): Promise<void> {
    if (items.length === 0) return;
    const told = this.#tell(execution_id, items);
    if (this.#elsewhere.has(execution_id)) {
      await this.#parts.bus.send({ kind: "progress", id: execution_id, items });
    }
    await told;
  }

  close(): void {
    this.#isClosed = true;
    for (const { cancelOff } of this.#channels.values()) cancelOff?.();
    this.#channels.clear();
    this.#elsewhere.clear();
  }

  async #tell(execution_id: string, items: readonly ProgressItem[]): Promise<void> {
    const readers = this.#channels.get(execution_id)?.readers;
    if (!readers) return;
    await Promise.all([...readers].map((reader) => reader(items)));
  }

  #open(execution_id: string): Channel {
    const wasWatched = this.isWatched(execution_id);
    const channel: Channel = { readers: new Set(), cancelOff: undefined };
    this.#channels.set(execution_id, channel);
    void this.#parts.bus.send({ kind: "watch", id: execution_id, on: true });
    this.#update(execution_id, wasWatched);
    return channel;
  }

  #watchedBy(replica: string, execution_id: string, on: boolean): void {
    const wasWatched = this.isWatched(execution_id);
    const replicas = this.#elsewhere.get(execution_id) ?? new Set();
    if (on) replicas.add(replica);
    else replicas.delete(replica);
    if (replicas.size > 0) this.#elsewhere.set(execution_id, replicas);
    else this.#elsewhere.delete(execution_id);
    this.#update(execution_id, wasWatched);
  }

  /** Notes that these executions are watched on another server, and no others. */
  #watchedAll(replica: string, execution_ids: readonly string[]): void {
    const watched = new Set(execution_ids);
    for (const [execution_id, replicas] of [...this.#elsewhere]) {
      const isOver = replicas.has(replica) && !watched.has(execution_id);
      if (isOver) this.#watchedBy(replica, execution_id, false);
    }
    for (const execution_id of watched) this.#watchedBy(replica, execution_id, true);
  }

  #update(execution_id: string, wasWatched: boolean): void {
    const isWatched = this.isWatched(execution_id);
    if (!isWatched) this.#masks.forget(execution_id);
    if (isWatched !== wasWatched) this.#parts.sessions.tellListening(execution_id, isWatched);
  }
}
