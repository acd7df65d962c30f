/** One server-sent event: a name, one line of JSON, and an id for frames that can be resumed. */
export interface SseFrame {
  readonly event: string;
  readonly data: unknown;
  readonly id?: number | undefined;
}

/** The frame as text. Data is one line: JSON escapes every line break. */
export function sseText({ event, data, id }: SseFrame): string {
  const head = id === undefined ? "" : `id: ${id}\n`;
  return `${head}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** A comment keeps the connection alive through proxies and means nothing else. */
export function sseComment(text: string): string {
  return `: ${text}\n\n`;
}
