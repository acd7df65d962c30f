import type { IncomingMessage } from "node:http";
import { EngineError } from "@engine/contract";
import { parseJsonBody, refuseDeep } from "./json/json-body.ts";
import { LargeJson } from "./json/large-json.ts";
import { LARGE_BYTES, type LargeField } from "./json/scan-json.ts";
import type { ScanThread } from "./json/scan-thread.ts";
import { tooLarge } from "./refusal.ts";
import type { Repeat } from "./repeat.ts";

/**
 * Who sent a body. Each pool has memory of its own, so that what callers send never keeps out what
 * workers bring, for which callers wait.
 */
export type Pool = "callers" | "workers";

/** How many bytes of large bodies a pool may have in memory. Small bodies are not counted. */
const MOST_BYTES = 128 * 1024 * 1024;
const RETRY_AFTER_SECONDS = 2;
/**
 * A body is looked at this often; if less than the least arrived since the last look, it has paused,
 * and after so many pauses in a row it is refused.
 */
const LOOK_MS = 5_000;
const LEAST_BYTES = 5 * 1024;
const MOST_PAUSES = 3;
/**
 * How many values a body of named fields may hold; a long text is one, and costs nothing to make.
 */
const MOST_VALUES = 200_000;
/** What a value that is made of a few bytes takes, at least. */
const VALUE_BYTES = 64;

/** The memory of a pool that is set aside for one large body until it is released. */
export interface Reservation {
  /** For a body that does not say how long it is. @throws EngineError `unavailable`. */
  grow(bytes: number): void;
  release(): void;
}

/** How a route takes a large body. */
export interface Takes {
  readonly limit: number;
  /** The whole body may be any JSON. */
  readonly isAnyJson: boolean;
  /** Fields that may be any JSON. */
  readonly anyFields: ReadonlySet<string>;
  /** Nothing but named fields and texts. */
  readonly isNamed: boolean;
}

interface Reading {
  came: number;
  /** How much had come at the last look. */
  looked: number;
  pauses: number;
  readonly stop: (error: EngineError) => void;
}

/**
 * Reads the bodies of requests. The memory for large bodies is bounded; a body that stops arriving is
 * refused; a large body is looked through on a thread, and stays text where its route takes any JSON.
 */
export class RequestBodies {
  readonly #thread: ScanThread;
  readonly #repeat: Repeat;
  readonly #most: number;
  readonly #readings = new Set<Reading>();
  #stopLooking: (() => void) | undefined;
  readonly #held: Record<Pool, number> = { callers: 0, workers: 0 };

  constructor(parts: { thread: ScanThread; stallTimer: Repeat; mostBytes?: number | undefined }) {
    this.#thread = parts.thread;
    this.#repeat = parts.stallTimer;
    this.#most = parts.mostBytes ?? MOST_BYTES;
  }

  /** @throws EngineError `unavailable` when the pool has no room for it. */
  reserve(bytes: number, pool: Pool = "callers"): Reservation {
    let reserved = 0;
    let isOver = false;
    const grow = (to: number) => {
      if (isOver || to <= reserved) return;
      if (this.#held[pool] + to - reserved > this.#most) throw tooMuch();
      this.#held[pool] += to - reserved;
      reserved = to;
    };
    grow(bytes);
    return {
      grow,
      release: () => {
        if (!isOver) this.#held[pool] -= reserved;
        isOver = true;
      },
    };
  }

  /** The value of a body, or its text where that is large. */
  async read(
    payload: IncomingMessage,
    takes: Takes,
    reserved: Reservation | undefined,
  ): Promise<unknown> {
    // Emptied with `splice`: an idle connection keeps its last request, whose listeners keep the
    // list.
    const { chunks, length } = await this.#receive(payload, takes.limit, reserved);
    if (length <= LARGE_BYTES) return parseJsonBody(joined(chunks.splice(0), length));
    const reservation = reserved ?? this.reserve(length);
    return this.#large(inOne(chunks.splice(0), length), takes, reservation.release);
  }

  /**
   * The text of a message, for what makes a value of all of it by itself and perhaps more than once. Its
   * memory stays reserved, and so does that of its values.
   */
  async message(
    payload: IncomingMessage,
    { limit }: Pick<Takes, "limit">,
    reserved: Reservation | undefined,
  ): Promise<Buffer> {
    const { chunks, length } = await this.#receive(payload, limit, reserved);
    if (length <= LARGE_BYTES) {
      const text = joined(chunks.splice(0), length);
      refuseDeep(text);
      return text;
    }
    const given = inOne(chunks.splice(0), length);
    const { bytes, scanned } = await this.#thread.run({ bytes: given });
    if (scanned.values > MOST_VALUES) throw tooMany(scanned.values);
    reserved?.grow(length + scanned.values * VALUE_BYTES);
    return Buffer.from(bytes.buffer);
  }

  close(): Promise<void> {
    this.#stopLooking?.();
    return this.#thread.close();
  }

  async #large(
    given: Uint8Array<ArrayBuffer>,
    takes: Takes,
    release: () => void,
  ): Promise<unknown> {
    const { bytes, scanned } = await this.#thread.run({ bytes: given });
    if (takes.isAnyJson) return new LargeJson(bytes, scanned, release);
    if (takes.isNamed && scanned.values > MOST_VALUES) throw tooMany(scanned.values);
    const text = Buffer.from(bytes.buffer);
    const apart = scanned.large.filter(({ key }) => takes.anyFields.has(key));
    if (apart.length > 0) return this.#withFields(text, apart, release);
    release();
    return JSON.parse(text.toString("utf8"));
  }

  /** Makes a value of the object without its large fields, then puts those in as text. */
  async #withFields(
    text: Buffer,
    fields: readonly LargeField[],
    release: () => void,
  ): Promise<unknown> {
    const rest: Buffer[] = [];
    let end = 0;
    for (const { from, to } of fields) {
      rest.push(text.subarray(end, from), Buffer.from("null"));
      end = to;
    }
    const body: Record<string, unknown> = JSON.parse(
      Buffer.concat([...rest, text.subarray(end)]).toString("utf8"),
    );
    for (const { key, from, to } of fields) {
      const given = Uint8Array.from(text.subarray(from, to));
      const { bytes, scanned } = await this.#thread.run({ bytes: given });
      body[key] = new LargeJson(bytes, scanned, release);
    }
    return body;
  }

  #receive(
    payload: IncomingMessage,
    limit: number,
    reserved: Reservation | undefined,
  ): Promise<{ chunks: Buffer[]; length: number }> {
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      const reading: Reading = { came: 0, looked: 0, pauses: 0, stop: end };
      let isOver = false;
      this.#watch(reading);
      payload.on("data", take).on("end", end).on("error", end);

      // Data that comes after the reading has ended is dropped.
      function take(chunk: Buffer): void {
        if (isOver) return;
        reading.came += chunk.length;
        if (reading.came > limit) end(tooLarge(limit));
        else if (reserved && !grows(reserved)) chunks.length = 0;
        else chunks.push(chunk);
      }

      function grows(reservation: Reservation): boolean {
        try {
          reservation.grow(reading.came);
          return true;
        } catch (error) {
          end(error as Error);
          return false;
        }
      }

      const readings = this.#readings;
      function end(error?: Error): void {
        if (isOver) return;
        isOver = true;
        readings.delete(reading);
        if (error) {
          chunks.length = 0;
          reject(error instanceof EngineError ? error : incomplete());
        } else resolve({ chunks, length: reading.came });
      }
    });
  }

  #watch(reading: Reading): void {
    this.#readings.add(reading);
    this.#stopLooking ??= this.#repeat(LOOK_MS, () => this.#look());
  }

  #look(): void {
    for (const reading of this.#readings) {
      if (reading.came - reading.looked >= LEAST_BYTES) reading.pauses = 0;
      else if (++reading.pauses >= MOST_PAUSES) reading.stop(stalled());
      reading.looked = reading.came;
    }
    if (this.#readings.size > 0) return;
    this.#stopLooking?.();
    this.#stopLooking = undefined;
  }
}

function joined(chunks: readonly Buffer[], length: number): Buffer {
  const [only] = chunks;
  return only && chunks.length === 1 ? only : Buffer.concat(chunks, length);
}

/** A buffer of its own can be handed to a thread and taken back without a copy. */
function inOne(chunks: readonly Buffer[], length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}

function tooMuch(): EngineError {
  return new EngineError(
    "unavailable",
    `the server is reading as many large bodies as it has room for; try again in ${RETRY_AFTER_SECONDS} s`,
    { details: { retry_after_seconds: RETRY_AFTER_SECONDS } },
  );
}

function tooMany(values: number): EngineError {
  const message = `holds ${values} values, more than anything that is taken here; expected at most ${MOST_VALUES}`;
  const issues = [{ path: "body", message }];
  return new EngineError("invalid_input", `body: ${message}`, { details: { issues } });
}

function stalled(): EngineError {
  const seconds = (MOST_PAUSES * LOOK_MS) / 1000;
  return new EngineError(
    "request_timeout",
    `the body did not come on for ${seconds} s; send it again, without pauses`,
  );
}

function incomplete(): EngineError {
  return new EngineError("bad_request", "the body is incomplete");
}
