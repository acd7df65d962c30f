/** Stands between a store and its server, and cuts a connection where a test wants it. */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/**
 * When to cut: while a new connection is set up, before the server sees a COMMIT, or after that,
 * before its answer is passed on; or before it sees a text of our own.
 */
export type Cut = "set-up" | "before commit" | "after commit" | { readonly before: string };

export interface FaultProxy {
  /** The database, by way of the proxy. */
  readonly url: string;
  /** Cuts the next connection that comes to it; resolves when that has happened. */
  cut(when: Cut): Promise<void>;
}

function signOf(when: Cut): string {
  if (typeof when === "object") return when.before;
  return when === "set-up" ? "set_config" : "COMMIT";
}

export async function startFaultProxy(url: string): Promise<FaultProxy> {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  let armed: { when: Cut; done: () => void } | undefined;

  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    let isSwallowing: (() => void) | undefined;
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.on("data", (data) => {
      const cut = armed && data.includes(signOf(armed.when)) ? armed : undefined;
      if (cut) armed = undefined;
      if (cut && cut.when !== "after commit") {
        client.destroy();
        cut.done();
        return;
      }
      if (cut) isSwallowing = cut.done;
      upstream.write(data);
    });
    upstream.on("data", (data) => {
      if (!isSwallowing) {
        client.write(data);
        return;
      }
      // The answer to COMMIT is the last of what was sent together.
      if (!data.includes("COMMIT")) return;
      client.destroy();
      isSwallowing();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });

  const through = new URL(url);
  through.port = String((server.address() as AddressInfo).port);
  return {
    url: through.href,
    cut: (when) => new Promise((done) => (armed = { when, done })),
  };
}
