/** What stands in place of a masked value (RED-1). */
export const MASK = "***REDACTED***";

/** Parts of a text as start, end, start, end and so on; in order and apart from each other where said so. */
export type Spans = number[];

export const NO_SPANS: readonly number[] = [];

/**
 * Adds a part that begins no earlier than those before. What overlaps becomes one, so that nothing of a
 * value is left because another one was found first.
 */
export function addSpan(spans: Spans, start: number, end: number): void {
  const last = spans.length - 1;
  if (last > 0 && start < (spans[last] as number)) {
    if (end > (spans[last] as number)) spans[last] = end;
  } else spans.push(start, end);
}

/** The same parts in order, apart from each other. */
export function united(spans: readonly number[]): Spans {
  const starts = Array.from({ length: spans.length / 2 }, (_, i) => 2 * i);
  starts.sort((a, b) => (spans[a] as number) - (spans[b] as number));
  const all: Spans = [];
  for (const i of starts) addSpan(all, spans[i] as number, spans[i + 1] as number);
  return all;
}

/** A text with the mask in place of these parts. */
export function masked(text: string, spans: readonly number[]): string {
  let out = "";
  let from = 0;
  for (let i = 0; i < spans.length; i += 2) {
    out += text.slice(from, spans[i]) + MASK;
    from = spans[i + 1] as number;
  }
  return out + text.slice(from);
}
