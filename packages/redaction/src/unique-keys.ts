/**
 * Names the fields of one object whose keys are masked: what becomes equal to another key gets `#2`,
 * `#3` (RED-1). Keys that were equal before stay so.
 */
export class UniqueKeys {
  readonly #taken: Set<string>;
  /** Those that were given out here, each with the last number it got. */
  readonly #given = new Map<string, number>();

  /** @param taken Keys of the object that come before all that are asked for. */
  constructor(taken: Iterable<string>) {
    this.#taken = new Set(taken);
  }

  /** The name of the next field, whose key became this one or was so before. */
  next(key: string, wasMasked: boolean): string {
    if (!wasMasked && !this.#given.has(key)) {
      this.#taken.add(key);
      return key;
    }
    let number = this.#given.get(key) ?? 1;
    let name = number === 1 ? key : `${key}#${++number}`;
    while (this.#taken.has(name)) name = `${key}#${++number}`;
    this.#given.set(key, number);
    this.#taken.add(name);
    return name;
  }
}
