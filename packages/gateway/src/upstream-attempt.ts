import type { ClientRequest, IncomingMessage, OutgoingHttpHeaders } from "node:http";
import type { Readable } from "node:stream";
import type { Server } from "@engine/client/node";
import { EngineError } from "@engine/contract";
import { passOn } from "./pass-on.ts";
import { Silence } from "./silence.ts";
import type { GatewayTiming } from "./timing.ts";

export interface UpstreamRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: OutgoingHttpHeaders;
  /** Sent as it comes. */
  readonly body?: Readable | undefined;
  /** For the head of the answer, once the server has all of the request; 0 = for ever. */
  readonly headMs: number;
  /** Ends the request, and the answer while it comes. */
  readonly signal: AbortSignal;
  /** A server is reached, and the body is about to be read. */
  readonly onReached?: () => void;
}

/** A request to one server. Nothing of it is sent before it has a connection. */
export class UpstreamAttempt {
  readonly #asked: UpstreamRequest;
  readonly #isSecure: boolean;
  readonly #request: ClientRequest;
  readonly #failed: Promise<never>;

  /** @param isAlone Takes a connection of its own instead of one that has rested. */
  constructor(server: Server, asked: UpstreamRequest, isAlone: boolean) {
    const { host, port, prefix, agent, isSecure } = server;
    const { method, path, headers, signal } = asked;
    this.#asked = asked;
    this.#isSecure = isSecure;
    const request = server.request({
      ...{ host, port, method, headers, path: prefix + path },
      agent: isAlone ? false : agent,
    });
    this.#request = request;
    this.#failed = new Promise((_, reject) => request.on("error", reject));
    // Whoever does not wait for it just then is told by the answer.
    this.#failed.catch(() => undefined);
    const leave = () => void request.destroy(signal.reason as Error);
    signal.addEventListener("abort", leave, { once: true });
    request.once("close", () => signal.removeEventListener("abort", leave));
  }

  /** Whether its connection had been used before, so that the server may just have ended it. */
  get isReused(): boolean {
    return this.#request.reusedSocket;
  }

  /** Returns once there is a connection; rejects when none comes about in time. */
  async connected(ms: number, timing: GatewayTiming): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#request.once("socket", (socket) => {
      if (this.isReused) resolve();
      else socket.once(this.#isSecure ? "secureConnect" : "connect", resolve);
    });
    const cancel = timing.setTimer(() => {
      this.#request.destroy(new Error("no connection came about in time"));
    }, ms);
    try {
      await Promise.race([promise, this.#failed]);
    } finally {
      cancel();
    }
  }

  /** Sends all and returns the head of the answer, whose body is still to come. */
  async head(timing: GatewayTiming): Promise<IncomingMessage> {
    const { headMs, body } = this.#asked;
    const request = this.#request;
    const sink = new Silence({
      ms: headMs,
      timing,
      onSilent: () => void request.destroy(tooLate(headMs)),
    });
    const { promise, resolve } = Promise.withResolvers<IncomingMessage>();
    request.once("response", (answer: IncomingMessage) => {
      // It may break before anybody listens.
      answer.on("error", () => undefined);
      resolve(answer);
    });
    let isSent = false;
    const end = () => {
      isSent = true;
      request.end();
      sink.watch();
    };
    const stop = body && passOn(body, request, { sink, onEnd: end });
    if (!body) end();
    try {
      const answer = await Promise.race([promise, this.#failed]);
      // Answered before it was read: nobody will read the rest.
      if (!isSent) answer.once("close", () => request.destroy());
      return answer;
    } finally {
      if (!isSent) stop?.();
      sink.end();
    }
  }
}

function tooLate(ms: number): EngineError {
  return new EngineError(
    "upstream_timeout",
    `the engine has not answered within ${ms / 1000} seconds; what was asked for may go on there`,
  );
}
