import type { ServerResponse } from "node:http";
import type { ShownRefusal } from "./redaction.ts";
import type { Repeat } from "./repeat.ts";
import type { Speak, SpokenRequest } from "./reply.ts";
import type { OpenStreams } from "./serve-stream.ts";
import type { Standing, StandingWatch } from "./standing.ts";

export interface ProtocolOptions {
  readonly headers: Readonly<Record<string, number | string | string[] | undefined>>;
  readonly streams: OpenStreams;
  readonly pingTimer: Repeat;
  /** Whether the caller may still have an answer; absent where that cannot change. */
  readonly standing?: Standing | undefined;
  readonly watch: StandingWatch;
  /** The refusal of what was thrown, as it is sent. */
  readonly refuse: (thrown: unknown) => ShownRefusal | Promise<ShownRefusal>;
}

/** For an answer to tell where its execution is, when the server stops. */
const LAST_MS = 1_000;
const JSON_TYPE = "application/json; charset=utf-8";

/**
 * Hands a request and its response over. What speaks there sends when and what it likes: the caller's
 * standing and the end of the server come from here, since they are no matter of the protocol's.
 */
export function serveProtocol(
  request: SpokenRequest,
  response: ServerResponse,
  speak: Speak,
  { headers, streams, pingTimer, standing, watch, refuse }: ProtocolOptions,
): void {
  let stopWaiting = () => {};
  const end = () => {
    stopWaiting = pingTimer(LAST_MS, () => response.destroy());
  };
  // A caller who has lost what lets it ask gets nothing that still waits (AUTH-58).
  const lose = async (refused: unknown) => {
    const { status, text } = await refuse(refused);
    if (response.headersSent) response.destroy();
    else response.writeHead(status, { "content-type": JSON_TYPE }).end(text);
  };
  const lost = (refused: unknown) => void lose(refused).catch(() => response.destroy());
  const stopWatch = standing ? watch.add(standing, lost) : () => {};
  streams.add(end);
  response.once("close", () => {
    streams.delete(end);
    stopWatch();
    stopWaiting();
  });
  // A reader that has gone breaks what is written to it; that it has is told by `close`.
  response.on("error", () => undefined);
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) response.setHeader(name, value);
  }
  void speak(request, response);
}
