import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/**
 * Handles the requests of one connection one after the other, with the loop let go in between. Node
 * hands over everything that a client has sent ahead of its answers at once, thousands of requests in
 * a chunk, and other connections would wait until the last of them was through. The number of waiting
 * requests is bounded: while one waits, its connection is not read.
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
  /** The response that is being written, or was written last. */
  #current: ServerResponse | undefined;
  #isWaitedFor = false;

  constructor(socket: Socket, handle: RequestListener) {
    this.#socket = socket;
    this.#handle = handle;
  }

  take(request: IncomingMessage, response: ServerResponse): void {
    const isFree = !this.#isWaitedFor && (this.#current === undefined || isOver(this.#current));
    if (isFree) {
      this.#begin(request, response);
      return;
    }
    if (this.#waiting.push([request, response]) > 1) return;
    this.#socket.pause();
    // Reading or dropping a body resumes the connection, which has to stay paused until its turn.
    this.#socket.on("resume", this.#hold);
    this.#await();
  }

  #begin(request: IncomingMessage, response: ServerResponse): void {
    this.#current = response;
    this.#handle(request, response);
  }

  /** Listens for the end of a response only while a request waits for it, which is rare. */
  #await(): void {
    if (this.#isWaitedFor) return;
    this.#isWaitedFor = true;
    if (this.#current && !isOver(this.#current)) this.#current.once("close", this.#whenAnswered);
    else this.#whenAnswered();
  }

  readonly #whenAnswered = (): void => {
    setImmediate(this.#next);
  };

  readonly #next = (): void => {
    this.#isWaitedFor = false;
    const [request, response] = this.#waiting.shift() ?? [];
    if (this.#waiting.length === 0) {
      this.#socket.off("resume", this.#hold);
      this.#socket.resume();
    }
    if (this.#socket.destroyed) this.#waiting.length = 0;
    else if (request && response) {
      this.#begin(request, response);
      if (this.#waiting.length > 0) this.#await();
    }
  };

  readonly #hold = (): void => {
    this.#socket.pause();
  };
}

/** True also for a response whose connection has gone: none of it is still to come. */
function isOver(response: ServerResponse): boolean {
  return response.writableFinished || response.closed || response.destroyed;
}
