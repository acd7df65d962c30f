import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import {
  type Address,
  CONNECTION,
  inTurn,
  type Listening,
  listen,
  refuseExpectation,
  refuseUnreadable,
  SECURITY_HEADERS,
} from "@engine/http";
import type { Exchange } from "./exchange.ts";
import type { GatewayTiming } from "./timing.ts";

export interface GatewayServerOptions {
  /** Answers; never rejects. */
  readonly handle: (exchange: Exchange) => void;
  readonly ids: () => string;
  readonly timing: GatewayTiming;
}

/** For requests that are running when the gateway is told to stop (GW-23). */
const DRAIN_MS = 30_000;
/** For a client to end a body that nobody reads any more, once it has its answer. */
const LINGER_MS = 5_000;

/** The socket that clients reach the gateway by: listening, and ending what came over it. */
export class GatewayServer {
  readonly #options: GatewayServerOptions;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #open = new Set<ServerResponse>();
  #closed: Promise<void> | undefined;

  constructor(options: GatewayServerOptions) {
    this.#options = options;
    const take = inTurn((request, response) => this.#take(request, response));
    const headers = { ...SECURITY_HEADERS, "content-type": "application/json; charset=utf-8" };
    this.#server = createServer(CONNECTION, take)
      // Whoever reads the body says that it may come.
      .on("checkContinue", take)
      .on("checkExpectation", (_, response: ServerResponse) => {
        refuseExpectation(response, { ...headers, "x-request-id": options.ids() });
      })
      .on("clientError", (error, socket: Socket) => refuseUnreadable(error, socket, headers))
      .on("connection", (socket: Socket) => {
        this.#sockets.add(socket);
        socket.once("close", () => this.#sockets.delete(socket));
      });
  }

  get isDraining(): boolean {
    return this.#closed !== undefined;
  }

  /** @throws EngineError `conflict` when the address cannot be had. */
  listen(address: Address): Promise<Listening> {
    const server = this.#server;
    return listen({ server, listen: (at) => listening(server, at) }, address);
  }

  /** Takes no connections any more, and returns once those that there are have ended. */
  async drain(): Promise<void> {
    if (!this.isDraining) {
      this.#stopTaking();
      const cancel = this.#options.timing.setTimer(() => this.#cut(), DRAIN_MS);
      void this.#closed?.then(cancel);
    }
    await this.#closed;
  }

  /** The same at once, whatever is running. */
  async close(): Promise<void> {
    this.#stopTaking();
    this.#cut();
    await this.#closed;
  }

  #stopTaking(): void {
    this.#closed ??= new Promise((resolve) => void this.#server.close(() => resolve()));
    const busy = new Set([...this.#open].map(({ socket }) => socket));
    for (const response of this.#open) {
      if (!response.headersSent) response.setHeader("connection", "close");
    }
    for (const socket of this.#sockets) if (!busy.has(socket)) socket.destroy();
  }

  #cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #take(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    this.#open.add(response);
    response.once("close", () => {
      this.#open.delete(response);
      if (this.isDraining) socket.destroySoon();
      else if (!request.complete) this.#linger(request);
    });
    // Nothing is upgraded here, and a connection that asked for it may bring something else than HTTP.
    if (this.isDraining || request.headers.upgrade !== undefined) {
      response.setHeader("connection", "close");
    }
    // A client that has gone breaks what is written to it; that it has is told by `close`.
    response.on("error", () => undefined);
    this.#options.handle({ request, response });
  }

  #linger(request: IncomingMessage): void {
    const cancel = this.#options.timing.setTimer(() => request.socket.destroy(), LINGER_MS);
    request.once("close", cancel);
  }
}

function listening(server: Server, address: Address): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(address, () => {
      server.off("error", reject);
      resolve();
    });
  });
}
