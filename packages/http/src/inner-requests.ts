import { type ClientRequest, request as httpRequest, type IncomingMessage } from "node:http";
import { type Duplex, duplexPair } from "node:stream";
import { Server as TlsServer } from "node:tls";
import type { App } from "./create-app.ts";
import { type FetchAnswer, fetchAnswer } from "./fetch-answer.ts";

/** What is asked for; as the typed client has it, but a header may also come more than once. */
interface Asked {
  readonly method: string;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string;
  readonly signal?: AbortSignal;
}

/** `fetch` of the typed client, for a request that this process makes to itself. */
export type InnerFetch = (url: string, asked: Asked) => Promise<FetchAnswer>;

/** The origin of addresses that mean this process; every server knows itself by that name. */
export const THIS_SERVER = "http://localhost";

/**
 * Requests from within the process, made for somebody who has asked it for something else. They take no
 * shortcut: each comes over a connection of its own, in memory, and what it may do is settled as for
 * every other.
 *
 * @param address Of whoever is asked for; it is taken for the client's.
 */
export function innerFetch(
  { server }: Pick<App, "server">,
  address: string | undefined,
): InnerFetch {
  // With TLS a `connection` is one that is still to be deciphered.
  const arrived = server instanceof TlsServer ? "secureConnection" : "connection";
  const connect = (): Duplex => {
    const [near, far] = duplexPair();
    Object.defineProperty(far, "remoteAddress", { value: address });
    server.emit(arrived, far);
    return near;
  };
  return async (url, { method, headers, body, signal }) => {
    const length = body === undefined ? {} : { "content-length": Buffer.byteLength(body) };
    const request = httpRequest(url, {
      method,
      headers: { ...headers, ...length },
      createConnection: connect,
      ...(signal && { signal }),
    });
    request.end(body);
    return fetchAnswer(await answerOf(request));
  };
}

function answerOf(request: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.once("error", reject);
    request.once("response", (answer: IncomingMessage) => {
      // It may break before anybody listens.
      answer.on("error", () => undefined);
      resolve(answer);
    });
  });
}
