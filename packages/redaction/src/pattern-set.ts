import { HashedText, LongPatterns } from "./long-patterns.ts";
import { PrefixTree } from "./prefix-tree.ts";
import { addSpan, NO_SPANS, type Spans } from "./spans.ts";
import {
  FORM_COUNT,
  formsOf,
  type Spelling,
  spellingsOf,
  startsOf,
  writtenAs,
} from "./spellings.ts";
import { StartFilter } from "./start-filter.ts";
import { WINDOW, WindowTable } from "./window-table.ts";

/** How much of a pattern is kept as text; the rest of a longer one is compared by its hash. */
const KEPT = 32;
/** Fewer characters of a masked value at the end of a text are not held back (RED-4). */
export const SHORTEST_HELD = 4;

/**
 * Finds masked values in a text, in all their forms. Of a pattern, which is a spelling in a form, only
 * the first characters are looked at beforehand. More of it is written out when a text has those, so
 * that a value nobody ever shows costs next to nothing, however long it is.
 */
export class PatternSet {
  readonly spellings: readonly string[];
  /** By pattern: its spelling and its form in one number. */
  readonly #patterns: Int32Array;
  readonly #windows: WindowTable;
  readonly #tree: PrefixTree = new PrefixTree();
  /** By the node where the kept part of them ends. */
  readonly #longer = new Map<number, LongPatterns>();
  /** Made when a text is first asked for its open end. */
  #starts: StartFilter | undefined;

  constructor(values: Iterable<string>) {
    const spellings: string[] = [];
    const patterns: number[] = [];
    for (const one of distinct(values)) {
      const spelling = spellings.push(one.text) - 1;
      for (const form of formsOf(one)) patterns.push(spelling * FORM_COUNT + form);
    }
    this.spellings = spellings;
    this.#patterns = Int32Array.from(patterns);
    this.#windows = new WindowTable(patterns.length);
    for (const [id, start] of this.#allStarts(WINDOW)) this.#windows.add(id, start);
  }

  /** Where the text has masked values, in order and apart from each other. */
  find(text: string): readonly number[] {
    let at = this.#windows.next(text, 0);
    if (at < 0) return NO_SPANS;
    const spans: Spans = [];
    const hashed = new HashedText(text);
    for (; at >= 0; at = this.#windows.next(text, at + 1)) {
      const end = this.#longest(hashed, at);
      if (end > at) addSpan(spans, at, end);
    }
    return spans;
  }

  /** Where the end of the text begins that a masked value may begin with; its length for nowhere. */
  openFrom(text: string): number {
    const { length } = text;
    let at = this.#windows.next(text, 0);
    for (; at >= 0; at = this.#windows.next(text, at + 1)) {
      if (this.#isOpen(text, at)) return at;
    }
    this.#starts ??= this.#startFilter();
    for (at = Math.max(0, length - WINDOW + 1); at <= length - SHORTEST_HELD; at++) {
      if (this.#starts.has(text, at)) return at;
    }
    return length;
  }

  /** Where the longest pattern ends that the text has at a place that was just found; 0 for none. */
  #longest(hashed: HashedText, at: number): number {
    this.#load();
    const { text } = hashed;
    const limit = Math.min(text.length, at + KEPT);
    let [node, end] = [0, 0];
    for (let i = at; i < limit; i++) {
      node = this.#tree.child(node, text.charCodeAt(i));
      if (node === 0) return end;
      if (this.#tree.isEnd(node)) end = i + 1;
    }
    const longer = limit === at + KEPT ? this.#longer.get(node)?.longest(hashed, at) : undefined;
    return longer ? at + longer : end;
  }

  /** Whether the text ends within a pattern that begins at a place that was just found. */
  #isOpen(text: string, at: number): boolean {
    this.#load();
    const node = this.#tree.nodeOf(text, at, at + KEPT);
    if (node === 0) return false;
    return text.length < at + KEPT || !!this.#longer.get(node)?.haveStart(text.slice(at));
  }

  /** Writes out the patterns that begin with the window that was just found. */
  #load(): void {
    if (this.#windows.isTaken) return;
    for (const id of this.#windows.take()) {
      const pattern = this.#patterns[id] as number;
      const text = this.spellings[Math.floor(pattern / FORM_COUNT)] as string;
      const form = pattern % FORM_COUNT;
      const [start = ""] = startsOf(text, [form], KEPT + 1);
      const node = this.#tree.add(start, KEPT);
      if (start.length <= KEPT) this.#tree.markEnd(node);
      else {
        const longer = this.#longer.get(node) ?? new LongPatterns();
        this.#longer.set(node, longer);
        longer.add(() => writtenAs(form, text));
      }
    }
  }

  #startFilter(): StartFilter {
    const starts = new StartFilter(this.#patterns.length * (WINDOW - SHORTEST_HELD));
    for (const [, start] of this.#allStarts(WINDOW - 1)) {
      for (let length = SHORTEST_HELD; length < WINDOW; length++) starts.add(start, length);
    }
    return starts;
  }

  *#allStarts(length: number): Generator<[id: number, start: string], void, undefined> {
    const patterns = this.#patterns;
    for (let id = 0; id < patterns.length; ) {
      const spelling = Math.floor((patterns[id] as number) / FORM_COUNT);
      const forms: number[] = [];
      for (let i = id; Math.floor((patterns[i] as number) / FORM_COUNT) === spelling; i++) {
        forms.push((patterns[i] as number) % FORM_COUNT);
      }
      for (const start of startsOf(this.spellings[spelling] as string, forms, length)) {
        yield [id++, start];
      }
    }
  }
}

/** Telling longer texts apart would take longer than having one of them twice. */
const LONGEST_COMPARED = 1024;
/** So many texts are remembered to be there; further ones may be there twice. */
const MOST_COMPARED = 100_000;

function* distinct(values: Iterable<string>): Generator<Spelling, void, undefined> {
  const seen = { whole: new Set<string>(), line: new Set<string>() };
  for (const value of values) {
    const lines = new Set<string>();
    for (const spelling of spellingsOf(value)) {
      const { text, isLine } = spelling;
      const known = isLine ? seen.line : seen.whole;
      if (known.has(text) || lines.has(text)) continue;
      if (text.length <= LONGEST_COMPARED && known.size < MOST_COMPARED) known.add(text);
      else if (isLine) lines.add(text);
      yield spelling;
    }
  }
}
