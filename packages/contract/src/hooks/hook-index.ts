/** Which enabled hooks an event fires, at a cost that does not grow with their number (HOOK-11). */
import { parseHookSelector } from "./selector.ts";
import type { EventSegment } from "./vocabulary.ts";

/** What matching has to know of a hook that is enabled. */
export interface EnabledHook {
  readonly id: string;
  readonly name: string;
  /** In the order of the hook's record. */
  readonly selectors: readonly string[];
}

/** A hook that an event fires. */
export interface HookMatch {
  readonly hook: EnabledHook;
  /** The first of the hook's selectors that matches. */
  readonly selector: string;
}

/** The key of an event in its segments (HOOK-5). */
export interface EventKey extends EventSegment {
  /** The segments between the domain and the last: namespace, workflow and, of a task's, the task. */
  readonly names: readonly string[];
}

/** Stands where a selector takes any segment; no name is spelled so. */
const ANY = "*";

/** One selector of one hook, at the end of its way through the index. */
interface Entry extends HookMatch {
  /** Of the hook among all hooks. */
  readonly order: number;
  /** Of the selector in its hook. */
  readonly place: number;
}

class Node {
  readonly next = new Map<string, Node>();
  readonly entries: Entry[] = [];

  /** The node behind a segment, made when there is none. */
  after(segment: string): Node {
    const known = this.next.get(segment);
    if (known) return known;
    const made = new Node();
    this.next.set(segment, made);
    return made;
  }
}

const NONE: readonly HookMatch[] = [];

/**
 * The enabled hooks by the segments of their selectors, made as a whole and never changed. The last
 * segment comes first: most events are of a kind that no hook asks for, and that is known at once.
 * A way through it has two branches at each segment, the name and any, so that at most 31 places are
 * looked at for an event, however many hooks there are.
 */
export class HookIndex {
  /** Whether there is no hook at all, so that no event has to be looked at. */
  readonly isEmpty: boolean;
  readonly #root = new Node();
  readonly #onVisit: (() => void) | undefined;

  /**
   * @param hooks In the order in which matches are given. A selector that is none, as one of a version
   *   that knew other words, fires for nothing.
   * @param onVisit Told of every place that is looked at.
   */
  constructor(hooks: readonly EnabledHook[], onVisit?: () => void) {
    this.isEmpty = hooks.length === 0;
    this.#onVisit = onVisit;
    for (const [order, hook] of hooks.entries()) {
      for (const [place, text] of hook.selectors.entries()) this.#add(text, { hook, order, place });
    }
  }

  /** Whether a hook may be fired by events of a kind, whatever they are of. */
  asksFor({ domain, segment }: EventSegment): boolean {
    const kinds = this.#root.next.get(domain)?.next;
    return kinds !== undefined && (kinds.has(segment) || kinds.has(ANY));
  }

  /** The hooks that an event fires, each once (HOOK-10). */
  match({ domain, segment, names }: EventKey): readonly HookMatch[] {
    if (this.isEmpty) return NONE;
    const found: Entry[] = [];
    const start = this.#root.next.get(domain);
    if (start) this.#collect(start, [segment, ...names], { depth: 0, found });
    return found.length === 0 ? NONE : firstOfEach(found);
  }

  #add(text: string, { hook, order, place }: Pick<Entry, "hook" | "order" | "place">): void {
    const { selector } = parseHookSelector(text);
    if (!selector) return;
    const path = [...selector.pattern.slice(-1), ...selector.pattern.slice(0, -1)];
    const end = path.reduce(
      (node, segment) => node.after(segment),
      this.#root.after(selector.domain),
    );
    end.entries.push({ hook, selector: text, order, place });
  }

  #collect(
    node: Node,
    path: readonly string[],
    { depth, found }: { readonly depth: number; readonly found: Entry[] },
  ): void {
    this.#onVisit?.();
    const segment = path[depth];
    if (segment === undefined) {
      for (const entry of node.entries) found.push(entry);
      return;
    }
    const below = { depth: depth + 1, found };
    const named = node.next.get(segment);
    if (named) this.#collect(named, path, below);
    const any = node.next.get(ANY);
    if (any) this.#collect(any, path, below);
  }
}

/** An index without hooks. */
export const NO_HOOKS: HookIndex = new HookIndex([]);

/** Of each hook the selector that stands first in its list. */
function firstOfEach(found: readonly Entry[]): readonly HookMatch[] {
  const firsts = new Map<number, Entry>();
  for (const entry of found) {
    const known = firsts.get(entry.order);
    if (!known || entry.place < known.place) firsts.set(entry.order, entry);
  }
  return [...firsts.values()]
    .sort((a, b) => a.order - b.order)
    .map(({ hook, selector }) => ({ hook, selector }));
}
