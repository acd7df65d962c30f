/** Something that is going to happen at a moment of virtual time, unless it is called off. */
export interface Happening {
  readonly at: number;
  /** Drawn: of those of one moment the smaller comes first. */
  readonly order: number;
  readonly run: () => void;
  /** To whom it happens. */
  readonly to?: object | undefined;
  /** A message on its way, which might as well have taken less time. */
  readonly isMessage?: boolean | undefined;
  isCalledOff: boolean;
}

/** What is going to happen, the next first (a binary heap). */
export class Happenings {
  readonly #heap: Happening[] = [];

  add(happening: Happening): void {
    const heap = this.#heap;
    let at = heap.push(happening) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(happening, heap[parent] as Happening)) break;
      heap[at] = heap[parent] as Happening;
      at = parent;
    }
    heap[at] = happening;
  }

  take(): Happening | undefined {
    for (;;) {
      const first = this.#first();
      if (!first?.isCalledOff) return first;
    }
  }

  /** Takes the first message to somebody out of its turn, if it is due by then. */
  takeMessage(to: object, by: number): Happening | undefined {
    let first: Happening | undefined;
    for (const happening of this.#heap) {
      if (happening.to !== to || !happening.isMessage || happening.isCalledOff) continue;
      if (happening.at <= by && (!first || isBefore(happening, first))) first = happening;
    }
    if (first) first.isCalledOff = true;
    return first;
  }

  #first(): Happening | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (
        child + 1 < heap.length &&
        isBefore(heap[child + 1] as Happening, heap[child] as Happening)
      )
        child++;
      if (!isBefore(heap[child] as Happening, last)) break;
      heap[at] = heap[child] as Happening;
      at = child;
    }
    heap[at] = last;
    return first;
  }
}

function isBefore(a: Happening, b: Happening): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}
