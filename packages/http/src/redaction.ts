/** What leaves is looked through for what nobody may read, once, where it leaves (RED-3). */
import { EngineError } from "@engine/contract";

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
  /** Rejects where it cannot be known: then nothing is answered (RED-5). */
  current(): Promise<Redactor>;
  /** Frames of these names were looked through before, or are to pass as they are (RED-4). */
  readonly passedFrames: ReadonlySet<string>;
}

/** At once where that can be, so that an answer costs no turn more. */
export function redactorOf(redaction: Redaction): Redactor | Promise<Redactor> {
  return redaction.known() ?? redaction.current();
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
    yield redactor.json(whole);
    return;
  }
  let held = "";
  for await (const piece of pieces) {
    const text = held + piece;
    held = OPEN_END.exec(text)?.[0] ?? "";
    yield redactor.text(text.slice(0, text.length - held.length));
  }
  yield redactor.text(held);
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
  const shown = (redactor?: Redactor): ShownRefusal => {
    const text = JSON.stringify(error.toBody());
    return { status: error.status, text: redactor ? redactor.json(text) : text };
  };
  if (!redaction || error.code === "redaction_unavailable") return shown();
  const redactor = redactorOf(redaction);
  return redactor instanceof Promise ? redactor.then(shown).catch(unlookedAt) : shown(redactor);
}

function unlookedAt(): ShownRefusal {
  const message = "what is masked cannot be read now, so nothing is answered; try again";
  const error = new EngineError("redaction_unavailable", message);
  return { status: error.status, text: JSON.stringify(error.toBody()) };
}
