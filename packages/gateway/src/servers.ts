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

/** A connection that rests longer may be ended by whatever stands in between, just as it is used. */
const REST_MS = 30_000;

/**
 * The addresses of servers: as workers do, the gateway stays with one for as long as that one
 * answers, and then takes the next (GW-21).
 */
export class Servers {
  readonly #all: readonly [Server, ...Server[]];
  #index = 0;

  constructor(urls: readonly string[]) {
    const [first, ...others] = urls.map(serverAt);
    if (!first) throw new TypeError("a gateway needs the address of a server");
    this.#all = [first, ...others];
  }

  get count(): number {
    return this.#all.length;
  }

  get current(): Server {
    return this.#all[this.#index] ?? this.#all[0];
  }

  /** A request to it has failed on the way. Of many that fail together the first one counts. */
  failed(server: Server): void {
    if (server === this.current) this.#index = (this.#index + 1) % this.#all.length;
  }

  /** Ends all connections, whatever they are used for. */
  close(): void {
    for (const { agent } of this.#all) agent.destroy();
  }
}

function serverAt(url: string): Server {
  const { protocol, hostname, port, pathname } = new URL(url);
  const isSecure = protocol === "https:";
  const { request, Agent } = isSecure ? https : http;
  return {
    request,
    agent: new Agent({ keepAlive: true, scheduling: "lifo", timeout: REST_MS }),
    host: hostname.replace(/^\[|\]$/g, ""),
    port: port || (isSecure ? 443 : 80),
    prefix: pathname.replace(/\/+$/, ""),
    isSecure,
    isExposed: !isSecure && !isLoopbackHost(hostname),
  };
}
