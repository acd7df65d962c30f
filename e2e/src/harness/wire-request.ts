import {
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request,
} from "node:http";

/** What came of an answer. */
export interface Received {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  readonly text: string;
  /** Whether it came to the end that HTTP gives it, instead of breaking off. */
  readonly isWhole: boolean;
}

export interface WireOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** All of the body; without one nothing is sent by itself. */
  readonly body?: string;
}

/** A request on a connection of its own, and every byte that is answered while it comes. */
export class WireRequest {
  readonly #request: ClientRequest;
  /** Rejects when the connection breaks before it. */
  readonly head: Promise<IncomingMessage>;
  readonly #received: Promise<Received>;
  readonly #watchers = new Set<() => void>();
  #text = "";
  #ended = false;

  constructor(url: string, { method = "GET", headers = {}, body }: WireOptions = {}) {
    this.#request = request(url, { method, headers, agent: false });
    this.head = new Promise((resolve, reject) => {
      this.#request.once("response", resolve).on("error", reject);
    });
    this.#received = this.head.then((message) => this.#gather(message));
    // Whoever asks for it is told.
    this.#received.catch(() => undefined);
    if (body !== undefined || method === "GET") this.#request.end(body);
  }

  static post(url: string, body: unknown, headers: Readonly<Record<string, string>> = {}) {
    return new WireRequest(url, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
  }

  /** A part of the body. */
  write(text: string): void {
    this.#request.write(text);
  }

  leave(): void {
    this.#request.destroy();
  }

  /** All of it, once it has ended or broken off; rejects when that was before the head. */
  received(): Promise<Received> {
    return this.#received;
  }

  /** Once what came so far matches; rejects when the answer ends without it. */
  async shows(pattern: RegExp): Promise<void> {
    await this.head;
    while (!pattern.test(this.#text)) {
      if (this.#ended) throw new Error(`${pattern} is not in what came: ${this.#text}`);
      await new Promise<void>((resolve) => this.#watchers.add(resolve));
    }
  }

  async #gather(message: IncomingMessage): Promise<Received> {
    const pieces: Buffer[] = [];
    message.on("data", (piece: Buffer) => {
      pieces.push(piece);
      this.#text += piece.toString("latin1");
      this.#tell();
    });
    // That it broke off is told by what came.
    message.on("error", () => undefined);
    await new Promise<void>((resolve) => void message.once("close", resolve));
    this.#ended = true;
    this.#tell();
    const bytes = Buffer.concat(pieces);
    const { statusCode: status = 0, headers, complete: isWhole } = message;
    return { status, headers, bytes, text: bytes.toString(), isWhole };
  }

  #tell(): void {
    for (const watcher of this.#watchers) watcher();
    this.#watchers.clear();
  }
}
