import type { Scanned } from "./scan-json.ts";

/**
 * A large body as the JSON text that was sent, of which no value has been made. It counts towards the
 * memory of its pool until it is released.
 */
export class LargeJson {
  readonly scanned: Scanned;
  readonly release: () => void;
  #bytes: Uint8Array<ArrayBuffer>;

  constructor(bytes: Uint8Array<ArrayBuffer>, scanned: Scanned, release: () => void) {
    this.#bytes = bytes;
    this.scanned = scanned;
    this.release = release;
  }

  /** Of a text that is known to be good JSON. */
  static of(text: string): LargeJson {
    const bytes = new TextEncoder().encode(text);
    const scanned = { values: 0, depth: 0, hasProto: false, onlyKey: undefined, large: [] };
    return new LargeJson(bytes, scanned, () => undefined);
  }

  get length(): number {
    return this.#bytes.length;
  }

  get text(): string {
    return Buffer.from(this.#bytes.buffer).toString("utf8");
  }

  /** Gives the bytes away, and takes them back from the answer. */
  async lend<Answer extends { readonly bytes: Uint8Array<ArrayBuffer> }>(
    to: (bytes: Uint8Array<ArrayBuffer>) => Promise<Answer>,
  ): Promise<Answer> {
    const answer = await to(this.#bytes);
    this.#bytes = answer.bytes;
    return answer;
  }
}
