import { randomUUID } from "node:crypto";
import { envelopeText, type Json, type StoredReference } from "@engine/contract";

/** Of a text, what is handed on at a time. */
const PIECE = 256 * 1024;

/** A text that is there for as long as somebody uses it, and is read again afterwards. */
interface Text {
  readonly text: string;
}

/**
 * A stored value that stands in an answer as the text it is stored as. It is never made into a value,
 * and nobody holds it: it is read when it is sent, and again if whoever receives it is slow.
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

  /** As a part of a record: {@link printed} knows what to do with it. */
  static of(
    reference: StoredReference,
    text: string,
    load: (reference_id: string) => Promise<string>,
  ): Json {
    return new JsonText(reference, text, load) as unknown as Json;
  }

  /** Where nobody prints it, it stands as its place. */
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
      // A character outside of the first plane is two, which belong together.
      const isSplit = (text.charCodeAt(to - 1) & 0xfc00) === 0xd800;
      const piece = text.slice(at, isSplit ? to + 1 : to);
      at += piece.length;
      // A slice would keep the whole.
      yield Buffer.from(piece).toString("utf8");
    }
  }

  async #again(): Promise<Text> {
    const read = { text: await this.#load(this.#reference.reference_id) };
    this.#kept = new WeakRef(read);
    return read;
  }
}

/** What stands in a text for each of them while it is printed. Nobody else can write it. */
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

/** Whether a text stands for a value that is wrapped, and so is shown otherwise than it is stored. */
export function isWrappedText(text: string): boolean {
  return text.startsWith('{"$rich"');
}
