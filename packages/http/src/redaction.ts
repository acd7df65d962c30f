/** What leaves is looked through for what nobody may read, once, where it leaves (RED-3). */
import { EngineError, type ErrorCode } from "@engine/contract";

/** Takes out what nobody may read. */
export interface Redactor {
  /** Nothing of anybody's is looked for: a text of any length may be looked through by pieces. */
  readonly isEmpty: boolean;
  text(text: string): string;
  /** Of JSON text; what comes is JSON again. */
  json(text: string): string;
}

/** Knows what nobody may read now. */
export interface Redaction {
  /** At once, while nothing can have changed since it was read. */
  known(): Redactor | undefined;
  /** Rejects EngineError `redaction_unavailable` where it cannot be known: nothing is answered (RED-5). */
  current(): Promise<Redactor>;
  /** Frames of these names were looked through before, or are to pass as they are (RED-4). */
  readonly passedFrames: ReadonlySet<string>;
}

/** At once where that can be, so that an answer costs no turn more. */
export function redactorOf(redaction: Redaction): Redactor | Promise<Redactor> {
  return redaction.known() ?? redaction.current();
}

/**
 * Text without what nobody may read. A worker may have stored any text as JSON.
 *
 * @throws EngineError `redaction_unavailable` for one that cannot be looked through: it is not told (RED-5).
 */
export function redacted(redactor: Redactor, kind: "json" | "text", text: string): string {
  try {
    return redactor[kind](text);
  } catch (cause) {
    const message = "the answer cannot be looked through for what is masked, so it is not told";
    throw new EngineError("redaction_unavailable", message, { cause });
  }
}

/** A run of characters that may be the beginning of a token, at the end of a piece. */
const OPEN_END = /[\w.-]{1,4096}$/;

/** JSON text that comes in pieces, looked through. */
export async function* redactedPieces(
  pieces: AsyncIterable<string>,
  redactor: Redactor,
): AsyncGenerator<string, void, undefined> {
  // A value that is looked for may lie across the places where the text was cut, in any form.
  if (!redactor.isEmpty) {
    let whole = "";
    for await (const piece of pieces) whole += piece;
    yield redacted(redactor, "json", whole);
    return;
  }
  let held = "";
  for await (const piece of pieces) {
    const text = held + piece;
    held = OPEN_END.exec(text)?.[0] ?? "";
    yield redacted(redactor, "text", text.slice(0, text.length - held.length));
  }
  yield redacted(redactor, "text", held);
}

/** A refusal as it is sent. */
export interface ShownRefusal {
  readonly status: number;
  /** The body as JSON text. */
  readonly text: string;
}

/** At once where that can be. Where it cannot be looked through, only that is told. */
export function shownRefusal(
  error: EngineError,
  redaction: Redaction | undefined,
): ShownRefusal | Promise<ShownRefusal> {
  if (!redaction || error.code === "redaction_unavailable") return asItIs(error);
  const shown = (redactor: Redactor): ShownRefusal => {
    const { status, text } = asItIs(error);
    return { status, text: redacted(redactor, "json", text) };
  };
  const redactor = redactorOf(redaction);
  if (!(redactor instanceof Promise)) return shown(redactor);
  return redactor
    .then(shown)
    .catch((unavailable: EngineError) => asItIs(OWN_WORDS.has(error.code) ? error : unavailable));
}

function asItIs(error: EngineError): ShownRefusal {
  return { status: error.status, text: JSON.stringify(error.toBody()) };
}

/**
 * Refusals that say nothing of what anybody sent or stored: who asks while the database is away is told
 * that, and not what follows from it.
 */
const OWN_WORDS: ReadonlySet<ErrorCode> = new Set([
  "unavailable",
  "auth_unavailable",
  "encryption_unavailable",
  "unauthenticated",
  "rate_limited",
]);
