/**
 * Checkpoints as lines of requests that stay open: a step of an execution then costs a line instead
 * of a request.
 */
import type { ClientRequest, IncomingMessage } from "node:http";
import { type CheckpointAnswer, EngineError, ErrorBody, type SessionRef } from "@engine/contract";

type Answers = readonly CheckpointAnswer[];

/** Codes of a server that does not know the stream. */
const UNKNOWN_ROUTE = ["not_found", "method_not_allowed", "unsupported_media_type", "bad_request"];
/** Where streams do not get through, they are tried again after this time. */
const REST_MS = 60_000;

export interface CheckpointStreamsOptions {
  readonly open: (ref: SessionRef) => LineStream;
  /** Sends the same body as a request of its own; sending it both ways does no harm. */
  readonly plain: (ref: SessionRef, body: string) => Promise<unknown>;
}

/**
 * The open streams of a worker, one for each lane that sends at the same time. Some proxies hold a
 * request back until it is complete: where a stream does not begin but a plain request gets
 * through, plain requests do the work for a while.
 */
export class CheckpointStreams {
  readonly #options: CheckpointStreamsOptions;
  #idle: { session: string; stream: LineStream }[] = [];
  #isResting = false;
  /** Grows with every {@link close}: streams that were opened before are not used again. */
  #epoch = 0;

  constructor(options: CheckpointStreamsOptions) {
    this.#options = options;
  }

  async send(ref: SessionRef, body: string): Promise<Answers> {
    const { plain } = this.#options;
    if (this.#isResting) return answersIn(await plain(ref, body));
    const epoch = this.#epoch;
    const stream = this.#take(ref);
    let answer: unknown;
    try {
      answer = await stream.send(body);
    } catch (error) {
      const isRefused = error instanceof EngineError && !UNKNOWN_ROUTE.includes(error.code);
      if (stream.hasBegun || isRefused) throw error;
      const answers = answersIn(await plain(ref, body));
      this.#rest();
      return answers;
    }
    if (epoch === this.#epoch) this.#idle.push({ session: ref.session, stream });
    else stream.close();
    return answersIn(answer);
  }

  /** Ends every stream; one that waits for its answer gets it first. */
  close(): void {
    this.#epoch++;
    for (const { stream } of this.#idle.splice(0)) stream.close();
  }

  #rest(): void {
    this.#isResting = true;
    const timer = setTimeout(() => {
      this.#isResting = false;
    }, REST_MS);
    timer.unref();
  }

  #take(ref: SessionRef): LineStream {
    for (let entry = this.#idle.pop(); entry; entry = this.#idle.pop()) {
      if (entry.stream.isOpen && entry.session === ref.session) return entry.stream;
      entry.stream.close();
    }
    return this.#options.open(ref);
  }
}

/** A line is answered by its items, or by the error that refuses all of them. */
function answersIn(answer: unknown): Answers {
  const { items } = answer as { items?: Answers };
  if (items) return items;
  throw EngineError.from(ErrorBody.parse(answer));
}

export interface LineStreamOptions {
  /** How long an answer may take before it counts as network trouble. */
  readonly timeoutMs: number;
  /** How long the server may take to agree to the stream. A proxy that buffers never does. */
  readonly beginMs: number;
  /** The error in an answer that is no stream: refused, or not known to this server. */
  readonly refused: (response: IncomingMessage) => Promise<Error>;
}

/** One request that stays open and carries lines of JSON both ways, one line at a time. */
export class LineStream {
  readonly #request: ClientRequest;
  readonly #options: LineStreamOptions;
  #pending: PromiseWithResolvers<unknown> | undefined;
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
    const pending = Promise.withResolvers<unknown>();
    this.#pending = pending;
    if (this.#hasBegun) this.#expectAnswer();
    this.#request.write(`${line}\n`);
    return pending.promise;
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

  #settle(): PromiseWithResolvers<unknown> | undefined {
    clearTimeout(this.#timer);
    const pending = this.#pending;
    this.#pending = undefined;
    return pending;
  }
}
