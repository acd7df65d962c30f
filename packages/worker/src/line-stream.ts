/**
 * One request that stays open and carries lines of JSON both ways: a step of an execution then
 * costs a line instead of a request. One line is on its way at a time.
 */
import type { ClientRequest, IncomingMessage } from "node:http";

interface Pending {
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: unknown) => void;
}

export interface LineStreamOptions {
  /** How long an answer may take before it counts as network trouble. */
  readonly timeoutMs: number;
  /** How long the server may take to agree to the stream. A proxy that buffers never does. */
  readonly beginMs: number;
  /** What an answer says that is no stream: refused, or not known to this server. */
  readonly refused: (response: IncomingMessage) => Promise<Error>;
}

export class LineStream {
  readonly #request: ClientRequest;
  readonly #options: LineStreamOptions;
  #pending: Pending | undefined;
  #timer: NodeJS.Timeout | undefined;
  #text = "";
  #failure: Error | undefined;
  #hasBegun = false;

  /** @param request Not ended, its headers not sent yet. */
  constructor(request: ClientRequest, options: LineStreamOptions) {
    this.#request = request;
    this.#options = options;
    request.setNoDelay(true);
    request.on("response", (response) => this.#begin(response));
    request.on("error", (error) => this.#fail(error));
    request.on("close", () => this.#fail(new Error("the stream was cut off")));
    request.flushHeaders();
    this.#timer = setTimeout(() => {
      this.#fail(new Error(`the stream did not begin within ${options.beginMs} ms`));
    }, options.beginMs);
  }

  /** The server has agreed: from now on trouble is trouble of the network. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  get isOpen(): boolean {
    return this.#failure === undefined;
  }

  send(line: string): Promise<unknown> {
    if (this.#failure) return Promise.reject(this.#failure);
    return new Promise((resolve, reject) => {
      this.#pending = { resolve, reject };
      if (this.#hasBegun) this.#expectAnswer();
      this.#request.write(`${line}\n`);
    });
  }

  close(): void {
    this.#fail(new Error("the stream is closed"));
    this.#request.destroy();
  }

  #begin(response: IncomingMessage): void {
    if (response.statusCode !== 200) {
      this.#options.refused(response).then(
        (error) => this.#fail(error),
        (error: Error) => this.#fail(error),
      );
      return;
    }
    this.#hasBegun = true;
    clearTimeout(this.#timer);
    if (this.#pending) this.#expectAnswer();
    response.setEncoding("utf8");
    response.on("data", (chunk: string) => this.#read(chunk));
    response.on("end", () => this.#fail(new Error("the server ended the stream")));
    response.on("error", (error) => this.#fail(error));
  }

  #read(chunk: string): void {
    this.#text += chunk;
    const end = chunk.indexOf("\n");
    if (end < 0) return;
    const line = this.#text.slice(0, this.#text.length - chunk.length + end);
    this.#text = this.#text.slice(line.length + 1);
    const pending = this.#settle();
    try {
      pending?.resolve(JSON.parse(line));
    } catch {
      pending?.reject(new Error("the answer is not JSON"));
    }
  }

  #expectAnswer(): void {
    const { timeoutMs } = this.#options;
    this.#timer = setTimeout(() => {
      this.#fail(new Error(`no answer to a checkpoint within ${timeoutMs} ms`));
    }, timeoutMs);
  }

  #fail(error: Error): void {
    if (this.#failure) return;
    this.#failure = error;
    this.#settle()?.reject(error);
    this.#request.destroy();
  }

  #settle(): Pending | undefined {
    clearTimeout(this.#timer);
    const pending = this.#pending;
    this.#pending = undefined;
    return pending;
  }
}
