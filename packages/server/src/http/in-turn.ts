import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/**
 * Handles the requests of one connection one after the other, with the loop let go in between. Node
 * hands over all that a client has sent ahead of its answers at once, thousands of requests in a
 * chunk, and everybody else would wait until the last of them was through. What waits is bounded: a
 * connection is not read while something of it does.
 */
export function inTurn(handle: RequestListener): RequestListener {
  const connections = new WeakMap<Socket, Connection>();
  return (request, response) => {
    const { socket } = request;
    let connection = connections.get(socket);
    if (!connection) {
      connection = new Connection(socket, handle);
      connections.set(socket, connection);
    }
    connection.take(request, response);
  };
}

class Connection {
  readonly #socket: Socket;
  readonly #handle: RequestListener;
  readonly #waiting: [IncomingMessage, ServerResponse][] = [];
  #isBusy = false;

  constructor(socket: Socket, handle: RequestListener) {
    this.#socket = socket;
    this.#handle = handle;
  }

  take(request: IncomingMessage, response: ServerResponse): void {
    if (!this.#isBusy) {
      this.#begin(request, response);
      return;
    }
    if (this.#waiting.push([request, response]) > 1) return;
    this.#socket.pause();
    // Whoever reads a body, or drops it, sets the connection going again.
    this.#socket.on("resume", this.#hold);
  }

  #begin(request: IncomingMessage, response: ServerResponse): void {
    this.#isBusy = true;
    response.once("close", this.#whenAnswered);
    this.#handle(request, response);
  }

  readonly #whenAnswered = (): void => {
    if (this.#waiting.length > 0) setImmediate(this.#next);
    else this.#isBusy = false;
  };

  readonly #next = (): void => {
    const [request, response] = this.#waiting.shift() ?? [];
    if (this.#waiting.length === 0) {
      this.#socket.off("resume", this.#hold);
      this.#socket.resume();
    }
    if (this.#socket.destroyed) this.#waiting.length = 0;
    else if (request && response) this.#begin(request, response);
  };

  readonly #hold = (): void => {
    this.#socket.pause();
  };
}
