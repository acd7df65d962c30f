import { type Event, isOutcome, type ProgressItem } from "@engine/contract";
import type { Masker, MaskStream } from "@engine/redaction";
import type { Log } from "../log.ts";
import type { MaskSets } from "../secrets/mask-set.ts";

type Items = readonly ProgressItem[];

/** A call whose values are looked through across their ends. */
interface Call {
  readonly masker: Masker;
  readonly stream: MaskStream<ProgressItem>;
}

interface Parts {
  /** Undefined: values pass as they are (RED-4). */
  readonly masks: Pick<MaskSets, "known" | "current"> | undefined;
  readonly log: Log;
}

/**
 * Masks what tasks say while they run, where it comes in: also what is split over several values of a
 * call, whose end is held back while it may begin something that is masked (RED-4).
 */
export class ProgressMasks {
  readonly #parts: Parts;
  /** By execution and call; only of those whose values may go on. */
  readonly #calls = new Map<string, Map<string, Call>>();
  /** Values of an execution wait for those before them. */
  readonly #waiting = new Map<string, Promise<unknown>>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** At once, unless it has to be found out what is masked. Where it cannot be, nothing is shown (PRG-7). */
  shown(execution_id: string, items: Items): Items | Promise<Items> {
    const { masks } = this.#parts;
    if (!masks) return items;
    const before = this.#waiting.get(execution_id);
    const masker = before ? undefined : masks.known();
    if (masker) return this.#masked(execution_id, items, masker);
    const shown = this.#later(execution_id, items, before);
    this.#waiting.set(execution_id, shown);
    void shown.then(() => {
      if (this.#waiting.get(execution_id) === shown) this.#waiting.delete(execution_id);
    });
    return shown;
  }

  /** What was held back of calls that have ended by these events. */
  ended(execution_id: string, events: readonly Event[]): Items {
    const calls = this.#calls.get(execution_id);
    if (!calls) return [];
    return events
      .filter(({ type }) => isOutcome(type))
      .flatMap(({ source_id }) => {
        const held = calls.get(source_id)?.stream.end() ?? [];
        calls.delete(source_id);
        if (calls.size === 0) this.#calls.delete(execution_id);
        return held;
      });
  }

  /** Nobody reads it any more. */
  forget(execution_id: string): void {
    this.#calls.delete(execution_id);
  }

  async #later(
    execution_id: string,
    items: Items,
    before: Promise<unknown> | undefined,
  ): Promise<Items> {
    await before;
    try {
      const masker = (await this.#parts.masks?.current()) as Masker;
      return this.#masked(execution_id, items, masker);
    } catch (error) {
      return this.#withheld(execution_id, error);
    }
  }

  #masked(execution_id: string, items: Items, masker: Masker): Items {
    try {
      if (masker.isEmpty) return items.map((item) => withValue(item, masker.value(item.value)));
      return items.flatMap((item) => this.#next(execution_id, item, masker));
    } catch (error) {
      return this.#withheld(execution_id, error);
    }
  }

  #next(execution_id: string, item: ProgressItem, masker: Masker): Items {
    const calls = this.#calls.get(execution_id) ?? new Map<string, Call>();
    this.#calls.set(execution_id, calls);
    const known = calls.get(item.source_id);
    // Since a secret was changed: what is held back belongs to neither set alone.
    const held = known && known.masker !== masker ? known.stream.end() : [];
    const call =
      known?.masker === masker ? known : { masker, stream: masker.stream<ProgressItem>() };
    calls.set(item.source_id, call);
    return [
      ...held.map((early) => withValue(early, masker.value(early.value))),
      ...call.stream.push(item),
    ];
  }

  #withheld(execution_id: string, error: unknown): Items {
    const message = "progress values could not be redacted and were withheld";
    this.#parts.log.error({ err: error, execution_id }, message);
    return [];
  }
}

function withValue(item: ProgressItem, value: unknown): ProgressItem {
  return value === item.value ? item : { ...item, value: value as ProgressItem["value"] };
}
