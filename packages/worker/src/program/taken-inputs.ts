import { type Encoded, EngineError, type StoredReference } from "@engine/contract";
import { type Place, Room } from "../room.ts";
import { parsedSize } from "./parsed-size.ts";

const MIB = 1024 * 1024;
/** Memory of the engine's code and the bundles; of a small runner the share rather than the bytes. */
const CODE = { bytes: 40 * MIB, share: 0.75 };
/** Shares of the rest: for the values of inputs, and for their texts on the way in. */
const SHARE = { values: 0.9, texts: 0.1 };
/** The value as it was parsed and as the body gets it, and lists that are copied while they grow. */
const COPIES = 3;

export interface TakenInputsOptions {
  /** What a runner may have on its heap. */
  readonly memoryBytes: number;
  /** A value has to wait until others leave. */
  onCrowded(): void;
}

/** An input on its way to its copy, which keeps it for as long as the copy is there. */
export interface TakenInput {
  /**
   * Settles with the value once there was room for it; never after {@link leave}.
   *
   * @throws EngineError `payload_too_large` where there will never be room; and what `load` throws.
   */
  readonly value: Promise<Encoded>;
  leave(): void;
}

/**
 * The inputs that lie outside of the log, on one runner. V8 cannot be stopped while it parses: where
 * the memory of a thread ends meanwhile, the process ends, with all that any of its threads runs. So
 * each input waits until what it will take is free.
 */
export class TakenInputs {
  readonly #options: TakenInputsOptions;
  readonly #texts: Room;
  readonly #values: Room;
  readonly #most: number;

  constructor(options: TakenInputsOptions) {
    const { memoryBytes } = options;
    this.#options = options;
    const free = memoryBytes - Math.min(CODE.bytes, CODE.share * memoryBytes);
    this.#most = SHARE.values * free;
    this.#values = new Room({ bytes: this.#most });
    this.#texts = new Room({ bytes: SHARE.texts * free });
  }

  get isWaitedFor(): boolean {
    return this.#values.isWaitedFor;
  }

  take({ metadata }: StoredReference, load: () => Promise<string>): TakenInput {
    const places: Place[] = [];
    let isLeft = false;
    const enter = async (room: Room, bytes: number) => {
      if (isLeft) await never();
      const place = room.ask({ bytes });
      places.push(place);
      // Texts go by themselves.
      if (this.isWaitedFor) this.#options.onCrowded();
      await place.had;
      return place;
    };
    const read = async () => {
      const place = await enter(this.#texts, Number(metadata["bytes"] ?? 0));
      const text = await load();
      await enter(this.#values, this.check(text));
      place.leave();
      return JSON.parse(text) as Encoded;
    };
    const leave = () => {
      isLeft = true;
      for (const place of places) place.leave();
    };
    return { value: read(), leave };
  }

  /**
   * The most that a text takes while a body gets its value.
   *
   * @throws EngineError `payload_too_large` Where there will never be room for that.
   */
  check(text: string): number {
    const size = COPIES * parsedSize(text);
    if (size <= this.#most) return size;
    const [takes, has] = [size, this.#options.memoryBytes].map((bytes) => Math.ceil(bytes / MIB));
    throw new EngineError(
      "payload_too_large",
      `the value would take about ${takes} MiB of memory, and a runner has ${has} MiB on this worker: raise engine.workers.thread_memory_mb (process_memory_mb of a runner process), or hand over where the data lies`,
    );
  }
}

function never(): Promise<never> {
  return new Promise(() => undefined);
}
