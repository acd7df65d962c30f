export interface SseFrame {
  readonly event: string;
  /** Absent on frames that are never repeated, such as progress. */
  readonly id: string | undefined;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Server-sent events as the wire has them; comments are skipped. */
export async function* readFrames(body: ReadableStream<Uint8Array>): AsyncGenerator<SseFrame> {
  let text = "";
  for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      const frame = parseFrame(text.slice(0, end));
      text = text.slice(end + 2);
      if (frame) yield frame;
    }
  }
}

function parseFrame(block: string): SseFrame | undefined {
  const fields = new Map<string, string>();
  for (const line of block.split("\n")) {
    const colon = line.indexOf(":");
    if (colon > 0) fields.set(line.slice(0, colon), line.slice(colon + 1).trimStart());
  }
  const [event, data] = [fields.get("event"), fields.get("data")];
  if (event === undefined || data === undefined) return undefined;
  return { event, id: fields.get("id"), data: JSON.parse(data) };
}
