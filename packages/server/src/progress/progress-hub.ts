import type { ProgressItem } from "@engine/contract";
import type { SetTimer } from "../engine-ports.ts";

export type ProgressReader = (item: ProgressItem) => void;

interface Channel {
  readonly readers: Set<ProgressReader>;
  /** Cancels the pending "nobody listens any more". */
  cancelOff: (() => void) | undefined;
}

/** A reader that reloads a page should not turn the values off and on again (PRG-2). */
const LINGER_MS = 1000;

/**
 * Hands progress values of running tasks to whoever watches (PRG-6). Nothing is kept: without a
 * reader there is no channel, and the owner of the execution is told not to send.
 */
export class ProgressHub {
  readonly #channels = new Map<string, Channel>();
  readonly #setTimer: SetTimer;
  readonly #tellOwner: (execution_id: string, on: boolean) => void;

  constructor(ports: {
    setTimer: SetTimer;
    tellOwner: (execution_id: string, on: boolean) => void;
  }) {
    this.#setTimer = ports.setTimer;
    this.#tellOwner = ports.tellOwner;
  }

  /** Returns how to leave again. */
  join(execution_id: string, reader: ProgressReader): () => void {
    const channel = this.#channels.get(execution_id) ?? this.#open(execution_id);
    channel.cancelOff?.();
    channel.cancelOff = undefined;
    channel.readers.add(reader);
    return () => {
      if (!channel.readers.delete(reader) || channel.readers.size > 0) return;
      channel.cancelOff = this.#setTimer(() => {
        this.#channels.delete(execution_id);
        this.#tellOwner(execution_id, false);
      }, LINGER_MS);
    };
  }

  isWatched(execution_id: string): boolean {
    return this.#channels.has(execution_id);
  }

  publish(execution_id: string, items: readonly ProgressItem[]): void {
    const readers = this.#channels.get(execution_id)?.readers;
    if (!readers) return;
    for (const item of items) for (const reader of readers) reader(item);
  }

  close(): void {
    for (const { cancelOff } of this.#channels.values()) cancelOff?.();
    this.#channels.clear();
  }

  #open(execution_id: string): Channel {
    const channel: Channel = { readers: new Set(), cancelOff: undefined };
    this.#channels.set(execution_id, channel);
    this.#tellOwner(execution_id, true);
    return channel;
  }
}
