import { randomUUID } from "node:crypto";
import { envelopeText, type Json, type StoredReference } from "@engine/contract";

/** How many characters of a text are sent at a time. */
const PIECE = 256 * 1024;

/** Held weakly: a text that has been collected is read again when it is needed. */
interface Text {
  readonly text: string;
}

/**
 * A stored value that stands in an answer as the text it is stored as. No value is made of it, and
 * nothing holds the text: it is read when it is sent, and again for a reader who is slow.
 */
export class JsonText {
  readonly #reference: StoredReference;
  readonly #load: (reference_id: string) => Promise<string>;
  #kept: WeakRef<Text>;

  private constructor(
    reference: StoredReference,
    text: string,
    load: (reference_id: string) => Promise<string>,
  ) {
    this.#reference = reference;
    this.#load = load;
    this.#kept = new WeakRef({ text });
  }

  /** Typed as a part of a record, in which only {@link printed} tells it from a value. */
  static of(
    reference: StoredReference,
    text: string,
    load: (reference_id: string) => Promise<string>,
  ): Json {
    return new JsonText(reference, text, load) as unknown as Json;
  }

  /** Outside of {@link printed} it becomes the reference to the stored value. */
  toJSON(): unknown {
    if (!open) return JSON.parse(envelopeText(this.#reference));
    open.push(this);
    return MARK;
  }

  async *pieces(): AsyncGenerator<string, void, undefined> {
    for (let at = 0, end = 1; at < end; ) {
      const { text } = this.#kept.deref() ?? (await this.#again());
      end = text.length;
      const to = at + PIECE;
      // The two halves of a surrogate pair belong into one piece.
      const isSplit = (text.charCodeAt(to - 1) & 0xfc00) === 0xd800;
      const piece = text.slice(at, isSplit ? to + 1 : to);
      at += piece.length;
      // A slice would keep the whole text in memory, its copy does not.
      yield Buffer.from(piece).toString("utf8");
    }
  }

  async #again(): Promise<Text> {
    const read = { text: await this.#load(this.#reference.reference_id) };
    this.#kept = new WeakRef(read);
    return read;
  }
}

/**
 * Stands for each stored text while the answer is printed; random, so that no value can hold it.
 */
const MARK = randomUUID();
const QUOTED = JSON.stringify(MARK);
let open: JsonText[] | undefined;

/** Like `JSON.stringify`; in pieces where stored texts stand in it. */
export function printed(value: unknown): string | AsyncIterable<string> {
  const texts: JsonText[] = [];
  open = texts;
  let text: string;
  try {
    text = JSON.stringify(value);
  } finally {
    open = undefined;
  }
  return texts.length === 0 ? text : joined(text.split(QUOTED), texts);
}

async function* joined(
  between: readonly string[],
  texts: readonly JsonText[],
): AsyncGenerator<string, void, undefined> {
  for (const [i, text] of between.entries()) {
    yield text;
    const stored = texts[i];
    if (stored) yield* stored.pieces();
  }
}

/**
 * Whether a stored text is the wrapped form of a value, which is shown differently than it is
 * stored.
 */
export function isWrappedText(text: string): boolean {
  return text.startsWith('{"$rich"');
}
