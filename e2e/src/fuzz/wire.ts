/** Sends one request and reads what comes, with a bound on how long that may take. */
import { Agent, request as httpRequest } from "node:http";
import { connect, type Socket } from "node:net";
import type { RawRequest, Request } from "./requests.ts";

export interface Answer {
  /** 0 when the connection ended without an answer. */
  readonly status: number;
  readonly type: string;
  /** All header lines as one text. */
  readonly head: string;
  /** The body; without an answer what the client says of it. */
  readonly text: string;
  /** Nothing came to an end within the bound. */
  readonly isHung: boolean;
}

/** Generous: a poll may wait 30 seconds. */
const BOUND_MS = 60_000;
/** Streams have no end of their own: what comes first is enough. */
const STREAM_MS = 120;
const NONE = { status: 0, type: "", head: "", text: "" };

export class Wire {
  readonly #port: number;
  readonly #agent: Agent;
  /** What a connection was used for last, in case the next request on it has no answer. */
  readonly #before = new WeakMap<Socket, string>();

  constructor(url: string, atATime: number) {
    this.#port = Number(new URL(url).port);
    this.#agent = new Agent({ keepAlive: true, maxSockets: atATime });
  }

  send(request: Request | RawRequest): Promise<Answer> {
    if ("raw" in request) return this.#sendBytes(request.raw);
    try {
      return this.#sendRequest(request);
    } catch {
      // Node's client refuses it; the server shall see it all the same.
      return this.#sendBytes(bytesOf(request));
    }
  }

  close(): void {
    this.#agent.destroy();
  }

  #sendRequest({ method, path, headers, body }: Request): Promise<Answer> {
    const { promise, resolve } = Promise.withResolvers<Answer>();
    const hasHost = headers.some((name, i) => i % 2 === 0 && name === "host");
    const sent = httpRequest({
      host: "127.0.0.1",
      port: this.#port,
      agent: this.#agent,
      method,
      path,
      headers: [
        ...(hasHost ? [] : ["host", `127.0.0.1:${this.#port}`]),
        ...headers,
        ...(body ? ["content-length", String(body.length)] : []),
      ],
    });
    let before = "nothing";
    sent.on("socket", (socket) => {
      before = this.#before.get(socket) ?? before;
      this.#before.set(socket, bytesOf({ method, path, headers, body }).toString().slice(0, 1_000));
    });
    const bound = setTimeout(() => {
      resolve({ ...NONE, text: `before it: ${before}`, isHung: true });
      sent.destroy();
    }, BOUND_MS);
    const settle = (answer: Answer) => {
      clearTimeout(bound);
      resolve(answer);
    };
    sent.on("error", ({ message }) => settle({ ...NONE, text: message, isHung: false }));
    sent.on("upgrade", (_, socket) => socket.destroy());
    sent.on("response", (response) => {
      const type = response.headers["content-type"] ?? "";
      const chunks: Buffer[] = [];
      const end = () => {
        const text = Buffer.concat(chunks).toString();
        const head = response.rawHeaders.join("\n");
        settle({ status: response.statusCode ?? 0, type, head, text, isHung: false });
      };
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", end);
      response.on("error", end);
      if (!type.startsWith("text/event-stream")) return;
      setTimeout(() => {
        end();
        sent.destroy();
      }, STREAM_MS);
    });
    sent.end(body);
    return promise;
  }

  #sendBytes(bytes: Buffer): Promise<Answer> {
    const { promise, resolve } = Promise.withResolvers<Answer>();
    const socket = connect(this.#port, "127.0.0.1");
    const chunks: Buffer[] = [];
    const bound = setTimeout(() => {
      resolve({ ...NONE, isHung: true });
      socket.destroy();
    }, BOUND_MS);
    socket.on("data", (chunk) => {
      chunks.push(chunk);
      const isStream = Buffer.concat(chunks).includes("text/event-stream");
      if (isStream) setTimeout(() => socket.destroy(), STREAM_MS);
    });
    socket.on("error", () => {});
    socket.on("close", () => {
      clearTimeout(bound);
      resolve(answerOf(Buffer.concat(chunks).toString()));
    });
    // Ends the sending side: what is announced and does not come shall not be waited for.
    socket.end(bytes);
    return promise;
  }
}

/** The first answer of a connection. */
function answerOf(text: string): Answer {
  const [head = "", ...rest] = text.split("\r\n\r\n");
  const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(head)?.[1] ?? 0);
  const type = /^content-type: (.*)$/im.exec(head)?.[1] ?? "";
  return { status, type, head, text: rest.join("\r\n\r\n"), isHung: false };
}

export function bytesOf(request: Request | RawRequest): Buffer {
  if ("raw" in request) return request.raw;
  const { method, path, headers, body = Buffer.alloc(0) } = request;
  const lines = [`${method} ${path} HTTP/1.1`, "host: 127.0.0.1", "connection: close"];
  for (let i = 0; i < headers.length; i += 2) lines.push(`${headers[i]}: ${headers[i + 1]}`);
  lines.push(`content-length: ${body.length}`, "", "");
  return Buffer.concat([Buffer.from(lines.join("\r\n")), body]);
}
