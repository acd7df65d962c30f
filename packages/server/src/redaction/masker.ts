/** Masks a set of values in everything that is read (RED-1): for now only as they are written. */
export interface Masker {
  readonly isEmpty: boolean;
  text(text: string): string;
  json(text: string): string;
}

export function createMasker(values: Iterable<string>): Masker {
  const all = [...values].sort((a, b) => b.length - a.length);
  const text = (shown: string) =>
    all.reduce((left, value) => left.replaceAll(value, "***REDACTED***"), shown);
  return { isEmpty: all.length === 0, text, json: text };
}
