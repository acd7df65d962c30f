/** What happened, one line each, in plain words. Kept only when somebody is going to read it. */
export class Trace {
  now = 0;
  readonly lines: string[] = [];
  readonly isKept: boolean;
  readonly #aliases = new Map<string, string>();
  #began = 0;

  constructor(isKept: boolean) {
    this.isKept = isKept;
  }

  begin(at: number): void {
    this.#began = at;
    this.now = at;
  }

  /** @param tell Only called when the line is kept. */
  say(who: string, tell: () => string): void {
    if (!this.isKept) return;
    const ms = (this.now - this.#began).toFixed(1).padStart(9);
    this.lines.push(`${ms} ms  ${who.padEnd(8)} ${tell()}`);
  }

  /** A short name of an execution, by the order in which they were first spoken of. */
  name(execution_id: string): string {
    const known = this.#aliases.get(execution_id);
    if (known) return known;
    const alias = `e${this.#aliases.size + 1}`;
    this.#aliases.set(execution_id, alias);
    return alias;
  }
}
