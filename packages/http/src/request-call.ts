import type { ServerResponse } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Caller } from "./authorize.ts";
import type { Call } from "./handlers.ts";
import type { Permit } from "./permit.ts";

/** The reason of a call's signal when the server stops, not the caller. */
const SERVER_LEAVES = new Error("the server is stopping");

/** Whether the caller has gone before it was answered. */
export function hasLeft({ signal }: Pick<Call, "signal">): boolean {
  return signal.aborted && signal.reason !== SERVER_LEAVES;
}

/** What a call is told beside its request. */
interface Known {
  readonly action: string;
  readonly addressOf: (raw: FastifyRequest["raw"]) => string | undefined;
}

/** The {@link Call} of a request. Its signal is made on first use: most handlers never look. */
export class RequestCall implements Call {
  readonly caller: Caller;
  readonly permit: Permit;
  readonly request_id: string;
  readonly headers: Call["headers"];
  readonly action: string;
  readonly #raw: FastifyRequest["raw"];
  readonly #addressOf: Known["addressOf"];
  readonly #response: ServerResponse;
  #controller: AbortController | undefined;

  constructor(request: FastifyRequest, reply: FastifyReply, { action, addressOf }: Known) {
    this.caller = request.caller;
    this.permit = request.permit;
    this.request_id = request.id;
    this.headers = request.headers;
    this.action = action;
    this.#raw = request.raw;
    this.#addressOf = addressOf;
    this.#response = reply.raw;
  }

  get raw_headers(): readonly string[] {
    return this.#raw.rawHeaders;
  }

  get address(): string | undefined {
    return this.#addressOf(this.#raw);
  }

  /** Whether the handler waits, or did, for something that may take long. */
  get isWaiting(): boolean {
    return this.#controller !== undefined;
  }

  get signal(): AbortSignal {
    if (this.#controller) return this.#controller.signal;
    const controller = new AbortController();
    const response = this.#response;
    const abortUnlessAnswered = () => {
      if (!response.writableFinished) controller.abort();
    };
    if (response.destroyed) abortUnlessAnswered();
    else response.once("close", abortUnlessAnswered);
    this.#controller = controller;
    return controller.signal;
  }

  /** The server ends the call from its side. */
  leave(): void {
    this.#controller?.abort(SERVER_LEAVES);
  }
}
