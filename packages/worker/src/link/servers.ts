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
  /** What is sent can be read on its way: no TLS, and another machine. */
  readonly isExposed: boolean;
}

/**
 * The addresses under which a worker may find a server: it stays with one for as long as that one
 * answers, and then takes the next.
 */
export class Servers {
  readonly #urls: readonly string[];
  #index = 0;
  #current: Server;

  constructor(urls: readonly string[]) {
    this.#urls = urls;
    this.#current = serverAt(this.#url);
  }

  get current(): Server {
    return this.#current;
  }

  /** A call to it has failed on the way. Of many that fail together the first one counts. */
  failed(server: Server): void {
    if (this.#urls.length > 1 && server === this.#current) this.next();
  }

  /** Behind one address, too, there may be another server for a new connection. */
  next(): void {
    this.#index = (this.#index + 1) % this.#urls.length;
    const left = this.#current;
    this.#current = serverAt(this.#url);
    for (const sockets of Object.values(left.agent.freeSockets)) {
      for (const socket of sockets ?? []) socket.destroy();
    }
  }

  get #url(): string {
    const url = this.#urls[this.#index];
    if (url === undefined) throw new TypeError("a worker needs the address of a server");
    return url;
  }
}

function serverAt(url: string): Server {
  const { protocol, hostname, port, pathname } = new URL(url);
  const isSecure = protocol === "https:";
  const { request, Agent } = isSecure ? https : http;
  return {
    request,
    agent: new Agent({ keepAlive: true, scheduling: "lifo" }),
    host: hostname.replace(/^\[|\]$/g, ""),
    port: port || (isSecure ? 443 : 80),
    prefix: pathname.replace(/\/$/, ""),
    isExposed: !isSecure && !isLoopbackHost(hostname),
  };
}
