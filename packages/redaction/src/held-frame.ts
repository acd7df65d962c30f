import { type MaskText, maskValue } from "./mask-value.ts";
import { MASK } from "./spans.ts";

export interface WithValue {
  readonly value: unknown;
}

interface Hidden {
  readonly start: number;
  readonly end: number;
  /** Its mask stands in an earlier frame. */
  readonly isContinued: boolean;
}

/** A frame that was not shown yet, and what of its texts is masked. */
export class HeldFrame<Frame extends WithValue = WithValue> {
  /** Frames are counted. */
  readonly number: number;
  readonly texts: readonly { readonly place: string; readonly text: string }[];
  readonly #frame: Frame;
  readonly #hidden: Hidden[][];
  #isShown = false;

  constructor(frame: Frame, number: number) {
    this.#frame = frame;
    this.number = number;
    const texts: { place: string; text: string }[] = [];
    maskValue(frame.value, (text, place) => {
      if (place !== undefined) texts.push({ place, text });
      return text;
    });
    this.texts = texts;
    this.#hidden = texts.map(() => []);
  }

  /** Whether it is too late to hide anything. */
  get isShown(): boolean {
    return this.#isShown;
  }

  /** Hides a part of one of its texts. */
  hide(text: number, hidden: Hidden): void {
    (this.#hidden[text] as Hidden[]).push(hidden);
  }

  /** @param mask For keys and numbers. */
  show(mask: (text: string) => string): Frame {
    this.#isShown = true;
    let next = 0;
    const each: MaskText = (text, place) =>
      place === undefined ? mask(text) : without(text, this.#hidden[next++] as Hidden[]);
    const { value, count } = maskValue(this.#frame.value, each);
    return count === 0 ? this.#frame : { ...this.#frame, value };
  }
}

function without(text: string, hidden: Hidden[]): string {
  // Of two that begin at one place, the one that began before says that the mask is shown already.
  hidden.sort((a, b) => a.start - b.start || Number(b.isContinued) - Number(a.isContinued));
  let out = "";
  let from = 0;
  for (const { start, end, isContinued } of hidden) {
    if (from === 0 || start >= from) out += text.slice(from, start) + (isContinued ? "" : MASK);
    from = Math.max(from, end);
  }
  return out + text.slice(from);
}
