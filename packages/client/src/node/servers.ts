import * as http from "node:http";
import * as https from "node:https";
import { isLoopbackHost } from "@engine/contract";

/** A server and the connections to it. */
export interface Server {
  readonly request: typeof http.request;
  readonly agent: http.Agent;
  readonly host: string;
  readonly port: string | number;
  /** Before every path. */
  readonly prefix: string;
  readonly isSecure: boolean;
  /** What is sent can be read on its way: no TLS, and another machine. */
  readonly isExposed: boolean;
}

export interface ServersOptions {
  /** How long a connection may rest before it is ended; when absent as long as the server lets it. */
  readonly restMs?: number;
}

/**
 * The addresses under which a server may be found: it stays with one for as long as that one answers,
 * and then takes the next (WRK-13, GW-21).
 */
export class Servers {
  readonly #urls: readonly URL[];
  readonly #options: ServersOptions;
  #index = 0;
  #current: Server;
  /** Left while something was under way. */
  #left: readonly Server[] = [];

  constructor(urls: readonly string[], options: ServersOptions = {}) {
    this.#urls = urls.map((url) => new URL(url));
    this.#options = options;
    this.#current = this.#freshServer();
  }

  get count(): number {
    return this.#urls.length;
  }

  get current(): Server {
    return this.#current;
  }

  /**
   * Something sent to it has failed on the way: the next one is taken, where there is one. Of many that
   * fail together the first one counts.
   */
  failed(server: Server): void {
    if (this.count > 1 && server === this.#current) this.next();
  }

  /**
   * What is sent from now on goes by a new connection, to the next address. Behind one address, too,
   * there may be another server for a new connection. What is under way goes on.
   */
  next(): void {
    this.#leave(this.#current);
    this.#index = (this.#index + 1) % this.count;
    this.#current = this.#freshServer();
  }

  /** Ends all connections, whatever they are used for, those to servers that were left too. */
  close(): void {
    for (const { agent } of [this.#current, ...this.#left]) agent.destroy();
  }

  #leave(server: Server): void {
    const { agent } = server;
    // A connection that is in use ends with its answer.
    agent.maxFreeSockets = 0;
    for (const sockets of Object.values(agent.freeSockets)) {
      for (const socket of sockets ?? []) socket.destroy();
    }
    this.#left = [...this.#left, server].filter(isUsed);
  }

  #freshServer(): Server {
    const url = this.#urls[this.#index];
    if (url === undefined) throw new TypeError("the address of a server is needed");
    return serverAt(url, this.#options);
  }
}

function isUsed({ agent }: Server): boolean {
  return Object.values(agent.sockets).some((sockets) => sockets?.length);
}

function serverAt({ protocol, hostname, port, pathname }: URL, { restMs }: ServersOptions): Server {
  const isSecure = protocol === "https:";
  const { request, Agent } = isSecure ? https : http;
  // Left out where there is none: what an agent has goes before what a request says.
  const rest = restMs === undefined ? {} : { timeout: restMs };
  return {
    request,
    agent: new Agent({ keepAlive: true, scheduling: "lifo", ...rest }),
    host: hostname.replace(/^\[|\]$/g, ""),
    port: port || (isSecure ? 443 : 80),
    prefix: pathname.replace(/\/+$/, ""),
    isSecure,
    isExposed: !isSecure && !isLoopbackHost(hostname),
  };
}
