import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { EngineError } from "@engine/contract";
import type { Repeat } from "./repeat.ts";

/** What any process that listens allows a connection. */
export const CONNECTION: Readonly<
  Record<"maxHeaderSize" | "headersTimeout" | "requestTimeout" | "keepAliveTimeout", number>
> = {
  maxHeaderSize: 16 * 1024,
  /** How long the headers of a request may take. */
  headersTimeout: 60_000,
  // Requests of lines stay open for as long as a worker lives, and bodies take what they take.
  requestTimeout: 0,
  /** How long a connection may rest between two requests. */
  keepAliveTimeout: 72_000,
};

/** How long a client that was refused may go on sending what nobody reads. */
const LINGER_MS = 5_000;

/**
 * Lets a client that still sends its body read why it was refused. A connection that is closed with
 * bytes unread is reset, and a reset takes with it what the client has not read yet (RFC 9112, 9.6): so
 * this side ends first, drops what comes, and goes when the client does, or after {@link LINGER_MS}.
 */
export function closeInStages(socket: Socket, timer: Repeat): void {
  socket.destroySoon = () => {
    socket.end();
    socket.once(
      "close",
      timer(LINGER_MS, () => socket.destroy()),
    );
  };
}

/** Answers a request that expects what is not known here; Node itself would with an empty 417. */
export function refuseExpectation(
  response: ServerResponse,
  headersOfJson: Readonly<Record<string, string>>,
): void {
  const refused = new EngineError("bad_request", "of Expect only 100-continue is known here");
  response.writeHead(refused.status, { ...headersOfJson, connection: "close" });
  response.end(JSON.stringify(refused.toBody()));
}

/** Answers a request that is not readable HTTP: there is no reply object, only the socket. */
export function refuseUnreadable(
  error: NodeJS.ErrnoException,
  socket: Socket,
  headersOfJson: Readonly<Record<string, string>>,
): void {
  // Where no TLS came about, nothing can be said over it.
  const isTls = /^(?:ERR_SSL|ERR_TLS|EPROTO)/.test(error.code ?? "");
  if (error.code === "ECONNRESET" || isTls || !socket.writable) {
    socket.destroy();
    return;
  }
  const refused = unreadable(error.code);
  const body = JSON.stringify(refused.toBody());
  const headers = Object.entries({
    ...headersOfJson,
    "content-length": String(Buffer.byteLength(body)),
    connection: "close",
  });
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  socket.end(`HTTP/1.1 ${refused.status} Refused\r\n${lines}\r\n${body}`);
}

function unreadable(code: string | undefined): EngineError {
  if (code === "HPE_HEADER_OVERFLOW") {
    return new EngineError("headers_too_large", "the request headers exceed 16 KiB");
  }
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") {
    return new EngineError("request_timeout", "the headers of the request did not come on");
  }
  return new EngineError("bad_request", "the request is not HTTP that can be read");
}
