/** One server-sent event: a name, one line of JSON, and an id for frames that can be resumed. */
export interface SseFrame {
  readonly event: string;
  readonly data: unknown;
  readonly id?: number | undefined;
}

/** The text of a frame up to its data. */
export function sseHead({ event, id }: SseFrame): string {
  return `${id === undefined ? "" : `id: ${id}\n`}event: ${event}\ndata: `;
}

/** The frame as text. Data is one line: JSON escapes every line break. */
export function sseText(frame: SseFrame): string {
  return `${sseHead(frame)}${JSON.stringify(frame.data)}\n\n`;
}

/** A comment keeps the connection alive through proxies and means nothing else. */
export function sseComment(text: string): string {
  return `: ${text}\n\n`;
}
