import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/**
 * One address for several servers, as a load balancer gives it: each new connection goes to the next
 * server that accepts it, and ends with that server. It can also be the network that breaks.
 */
export class TcpBalancer implements AsyncDisposable {
  readonly #ports: () => readonly number[];
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #heard: ((text: string, from: "client" | "server") => void)[] = [];
  #next = 0;
  #isMuted = false;

  private constructor(ports: () => readonly number[]) {
    this.#ports = ports;
    this.#server = createServer((client) => {
      this.#hold(client);
      this.#serve(client).catch(() => client.destroy());
    });
  }

  /** @param ports Of the servers, asked anew for each connection. */
  static async start(ports: () => readonly number[]): Promise<TcpBalancer> {
    const balancer = new TcpBalancer(ports);
    balancer.#server.listen(0, "127.0.0.1");
    await once(balancer.#server, "listening");
    return balancer;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** What passes from now on, in the pieces in which it comes. */
  listen(heard: (text: string, from: "client" | "server") => void): void {
    this.#heard.push(heard);
  }

  /** From now on nothing that servers send arrives; what clients send does. */
  mute(): void {
    this.#isMuted = true;
  }

  /** Connections whose bytes were dropped are of no use any more: they end. */
  unmute(): void {
    this.#isMuted = false;
    this.cut();
  }

  /** Ends every connection; new ones are accepted. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    this.cut();
    await closed;
  }

  async #serve(client: Socket): Promise<void> {
    const server = await this.#connected();
    if (!server) {
      client.destroy();
      return;
    }
    this.#hold(server);
    if (client.destroyed) {
      server.destroy();
      return;
    }
    this.#pass(client, server, "client");
    this.#pass(server, client, "server");
  }

  /** Undefined when no server accepts. */
  async #connected(): Promise<Socket | undefined> {
    const ports = this.#ports();
    const first = this.#next++;
    for (let i = 0; i < ports.length; i++) {
      const socket = connect(ports[(first + i) % ports.length] ?? 0, "127.0.0.1");
      try {
        await once(socket, "connect");
        return socket;
      } catch {
        // The next one.
      }
    }
    return undefined;
  }

  #pass(from: Socket, to: Socket, who: "client" | "server"): void {
    from.on("data", (bytes: Buffer) => {
      if (who === "server" && this.#isMuted) return;
      for (const heard of this.#heard) heard(bytes.toString("latin1"), who);
      if (!to.write(bytes)) from.pause();
    });
    to.on("drain", () => from.resume());
    from.on("end", () => to.end());
    from.on("close", (hadError) => hadError && to.destroy());
  }

  #hold(socket: Socket): void {
    this.#sockets.add(socket);
    socket.setNoDelay(true);
    // What it was doing ends with it; whoever did that is told by the close.
    socket.on("error", () => {});
    socket.on("close", () => this.#sockets.delete(socket));
  }
}
