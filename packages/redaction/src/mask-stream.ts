import { HeldFrame, type WithValue } from "./held-frame.ts";
import { SHORTEST_HELD } from "./pattern-set.ts";
import { masked } from "./spans.ts";
import type { ValueFinder } from "./value-finder.ts";

/**
 * Masks frames that are read one after the other, such as the progress values of one task call, so that
 * a value is masked that is split over the same text of several frames (RED-4), as a model's answer is
 * that comes word by word. A frame whose text ends with 4 or more characters that begin a masked value
 * is held back until the next one, or the end. Frames keep their number and order, and texts stay in
 * their frames: what a reader makes of them is not known here.
 */
export interface MaskStream<Frame extends WithValue> {
  /** @returns The frames that may be shown now, masked. */
  push(frame: Frame): readonly Frame[];
  /** @returns The frames that were held back. */
  end(): readonly Frame[];
}

/** A text of a frame, and where it begins and ends in what it was joined to. */
interface Part {
  readonly frame: HeldFrame;
  readonly text: number;
  readonly start: number;
  readonly end: number;
}

/** The end of what the texts at one place have become, as far as it matters for the next one. */
interface Trail {
  readonly text: string;
  readonly parts: readonly Part[];
}

/** A text is not held back for three characters and a part of one; encoded, they are remembered. */
const REMEMBERED = SHORTEST_HELD * "%F0%9F%94%91".length;
/** More frames are not held back: what may begin a value is masked instead. */
const MOST_HELD = 1000;
/** More places are not followed. */
const MOST_TRAILS = 1000;

export class FrameMask<Frame extends WithValue> implements MaskStream<Frame> {
  readonly #finder: ValueFinder;
  readonly #trails = new Map<string, Trail>();
  #held: HeldFrame<Frame>[] = [];
  #count = 0;

  constructor(finder: ValueFinder) {
    this.#finder = finder;
  }

  push(frame: Frame): readonly Frame[] {
    const held = new HeldFrame(frame, this.#count++);
    this.#held.push(held);
    let waiting = this.#count;
    for (let text = 0; text < held.texts.length; text++) {
      waiting = Math.min(waiting, this.#follow(held, text));
    }
    return this.#show(waiting);
  }

  end(): readonly Frame[] {
    this.#trails.clear();
    return this.#show(this.#count);
  }

  /** Hides what is masked in a text. @returns The first frame that has to wait for the next one. */
  #follow(frame: HeldFrame<Frame>, index: number): number {
    const { place, text } = frame.texts[index] as HeldFrame["texts"][number];
    const trail = this.#trails.get(place) ?? { text: "", parts: [] };
    const joined = trail.text + text;
    const part: Part = { frame, text: index, start: trail.text.length, end: joined.length };
    const parts = [...trail.parts, part];

    // What it holds by itself is masked, whatever it continues.
    if (trail.text !== "") hide([{ ...part, start: 0, end: text.length }], this.#finder.find(text));
    const spans = this.#finder.find(joined);
    hide(parts, spans);

    const open = this.#finder.openFrom(joined);
    this.#remember(place, joined, parts, Math.min(open, joined.length - REMEMBERED));
    const from = Math.max(open, spans.at(-1) ?? 0);
    if (joined.length - from < SHORTEST_HELD) return this.#count;
    if (this.#held.length <= MOST_HELD) {
      const first = parts.find(({ frame, end }) => end > from && !frame.isShown);
      return first?.frame.number ?? this.#count;
    }
    hide(parts, [from, joined.length]);
    return this.#count;
  }

  #remember(place: string, joined: string, parts: readonly Part[], from: number): void {
    const moved = Math.max(0, from);
    // Those that were there last are dropped last.
    this.#trails.delete(place);
    this.#trails.set(place, {
      text: joined.slice(moved),
      parts: parts
        .filter(({ end }) => end > moved)
        .map((part) => ({ ...part, start: part.start - moved, end: part.end - moved })),
    });
    if (this.#trails.size <= MOST_TRAILS) return;
    for (const oldest of this.#trails.keys()) {
      this.#trails.delete(oldest);
      break;
    }
  }

  /** Shows the frames before this one. */
  #show(waiting: number): readonly Frame[] {
    const count = this.#held.length - (this.#count - waiting);
    const mask = (text: string) => masked(text, this.#finder.find(text));
    return this.#held.splice(0, Math.max(0, count)).map((held) => held.show(mask));
  }
}

/** Hides parts of a joined text in the frames they lie in; the first that is not shown yet has the mask. */
function hide(parts: readonly Part[], spans: readonly number[]): void {
  for (let i = 0; i < spans.length; i += 2) {
    const [start, end] = [spans[i] as number, spans[i + 1] as number];
    let isContinued = false;
    for (const part of parts) {
      const from = Math.max(start, part.start);
      const to = Math.min(end, part.end);
      if (from >= to || part.frame.isShown) continue;
      const hidden = { start: from - part.start, end: to - part.start, isContinued };
      part.frame.hide(part.text, hidden);
      isContinued = true;
    }
  }
}
