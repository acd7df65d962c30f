import { connect, type Socket } from "node:net";

export interface RawAnswer {
  readonly status: number;
  readonly text: string;
}

interface Waiting {
  resolve(answer: RawAnswer): void;
  reject(error: Error): void;
}

const HEAD_END = "\r\n\r\n";

/**
 * One connection to a server, one request at a time. Load is made on the cores that are measured:
 * `node:http` took four times the processor time of this for each request.
 */
export class KeptConnection {
  readonly #socket: Socket;
  readonly #host: string;
  #received: Buffer = Buffer.alloc(0);
  #waiting: Waiting | undefined;
  isOpen = true;

  constructor({ hostname, port, host }: URL) {
    this.#host = host;
    this.#socket = connect({ host: hostname, port: Number(port), noDelay: true });
    this.#socket.on("data", (chunk: Buffer) => this.#read(chunk));
    this.#socket.on("error", (error) => this.#end(error));
    this.#socket.on("close", () => this.#end(new Error("the connection was closed")));
  }

  send(start: string, headers: Readonly<Record<string, string>>, body = ""): Promise<RawAnswer> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      let text = `${start} HTTP/1.1\r\nhost: ${this.#host}\r\n`;
      for (const [name, value] of Object.entries(headers)) text += `${name}: ${value}\r\n`;
      this.#socket.write(`${text}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
    });
  }

  close(): void {
    this.isOpen = false;
    this.#socket.destroy();
  }

  #read(chunk: Buffer): void {
    this.#received = this.#received.length > 0 ? Buffer.concat([this.#received, chunk]) : chunk;
    const at = this.#received.indexOf(HEAD_END);
    if (at < 0) return;
    const head = this.#received.toString("latin1", 0, at);
    const rest = this.#received.subarray(at + HEAD_END.length);
    const text = /\r\ntransfer-encoding: chunked/i.test(head) ? unchunked(rest) : whole(head, rest);
    if (text === undefined) return;
    this.#received = Buffer.alloc(0);
    if (/\r\nconnection: close/i.test(head)) this.close();
    const { resolve } = this.#waiting ?? {};
    this.#waiting = undefined;
    resolve?.({ status: Number(head.slice(9, 12)), text });
  }

  #end(error: Error): void {
    this.isOpen = false;
    const { reject } = this.#waiting ?? {};
    this.#waiting = undefined;
    reject?.(error);
  }
}

/** Undefined: there is more to come. */
function whole(head: string, body: Buffer): string | undefined {
  const length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
  return body.length < length ? undefined : body.toString("utf8", 0, length);
}

function unchunked(body: Buffer): string | undefined {
  const parts: Buffer[] = [];
  for (let from = 0; ; ) {
    const lineEnd = body.indexOf("\r\n", from);
    if (lineEnd < 0) return undefined;
    const length = Number.parseInt(body.toString("latin1", from, lineEnd), 16);
    from = lineEnd + 2;
    if (body.length < from + length + 2) return undefined;
    if (length === 0) return Buffer.concat(parts).toString("utf8");
    parts.push(body.subarray(from, from + length));
    from += length + 2;
  }
}
