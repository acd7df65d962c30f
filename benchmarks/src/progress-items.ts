import { gate } from "./gate.ts";
import type { SseReader } from "./sse-reader.ts";

/** One progress value as a reader got it; all in milliseconds since 1970. */
export interface Item {
  readonly n: number;
  /** The frame's own `time`. */
  readonly time: number;
  /** What the task read from its clock just before it called `progress`. */
  readonly sent: number;
  readonly at: number;
}

export function itemsOf(reader: SseReader): Item[] {
  return reader.frames.flatMap(({ event, data, at }) => {
    if (event !== "task.progress") return [];
    const { time, value } = JSON.parse(data) as { time: string; value: { n: number; at: number } };
    return [{ n: value.n, time: Date.parse(`${time}Z`), sent: value.at, at }];
  });
}

/** Every item once and in order, and the closing frame behind them. */
export function gateReader(reader: SseReader, items: number): Item[] {
  const found = itemsOf(reader);
  gate(found.length === items, () => `a reader got ${found.length} of ${items} items`);
  found.forEach(({ n }, i) => {
    gate(n === i, () => `item ${i} of a reader is number ${n}`);
  });
  const last = reader.frames.at(-1)?.event ?? "nothing";
  gate(last.endsWith(".execution.completed"), () => `a stream ended with ${last}`);
  return found;
}
