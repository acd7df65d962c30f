import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";

/** What the typed client needs of an answer. */
export interface FetchAnswer {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: ReadableStream<Uint8Array>;
  text(): Promise<string>;
}

/** An answer of `node:http` as the typed client takes it: for processes that bring their own connections. */
export function fetchAnswer(answer: IncomingMessage): FetchAnswer {
  return {
    status: answer.statusCode ?? 0,
    headers: { get: (name) => answer.headersDistinct[name.toLowerCase()]?.join(", ") ?? null },
    get body() {
      return Readable.toWeb(answer) as ReadableStream<Uint8Array>;
    },
    text: () => text(answer),
  };
}
