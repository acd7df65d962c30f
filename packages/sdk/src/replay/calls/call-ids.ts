/** The id of the call that another was made in; null in the workflow's own body. */
export function parentOf(id: string): string | null {
  const slash = id.lastIndexOf("/");
  return slash < 0 ? null : id.slice(0, slash);
}

/** Counts the calls made under one parent: `<parent>/<name>~<n>`, n from 1 per name (EXE-26). */
export class CallIds {
  readonly parent_id: string | null;
  readonly #counts: Map<string, number>;
  /** How many calls were made so far: the next one's position among its siblings. */
  position = 0;

  constructor(parent_id: string | null, counts: ReadonlyMap<string, number> = new Map()) {
    this.parent_id = parent_id;
    this.#counts = new Map(counts);
  }

  /** The highest number given so far, per name. */
  get counts(): ReadonlyMap<string, number> {
    return this.#counts;
  }

  next(name: string): string {
    const n = (this.#counts.get(name) ?? 0) + 1;
    this.#counts.set(name, n);
    this.position++;
    return this.parent_id === null ? `${name}~${n}` : `${this.parent_id}/${name}~${n}`;
  }
}
