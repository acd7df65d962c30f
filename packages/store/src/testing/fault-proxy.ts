/** Stands between a store and its server, and cuts a connection where a test wants it. */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/**
 * When to cut: while a new connection is set up, before the server sees a COMMIT, or after that,
 * before its answer is passed on; or before it sees a text of our own, or after it has answered one.
 */
export type Cut =
  | "set-up"
  | "before commit"
  | "after commit"
  | { readonly before: string }
  | { readonly after: string; readonly answered: string };

export interface FaultProxy {
  /** The database, by way of the proxy. */
  readonly url: string;
  /** Cuts the next connection that comes to it; resolves when that has happened. */
  cut(when: Cut): Promise<void>;
  /** Cuts the next connection that sends this text, which the database gets only when it is told to. */
  hold(text: string): Promise<HeldMessage>;
}

export interface HeldMessage {
  /** Resolves when the database has answered. */
  deliver(): Promise<void>;
}

function signOf(when: Cut): string {
  if (typeof when === "object") return "before" in when ? when.before : when.after;
  return when === "set-up" ? "set_config" : "COMMIT";
}

/** What the answer holds that is not passed on; undefined when the question does not get through. */
function swallowed(when: Cut): string | undefined {
  if (when === "after commit") return "COMMIT";
  return typeof when === "object" && "after" in when ? when.answered : undefined;
}

export async function startFaultProxy(url: string): Promise<FaultProxy> {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  let armed: { when: Cut; done: () => void } | undefined;
  let holding: { text: string; done: (held: HeldMessage) => void } | undefined;

  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    let swallowing: { readonly answer: string; readonly done: () => void } | undefined;
    let isHeld = false;
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        sockets.delete(socket);
        if (isHeld) return;
        client.destroy();
        upstream.destroy();
      });
    }
    client.on("data", (data) => {
      if (holding && data.includes(holding.text)) {
        const { done } = holding;
        holding = undefined;
        isHeld = true;
        client.destroy();
        const deliver = async () => {
          upstream.write(data);
          await once(upstream, "data");
        };
        done({ deliver });
        return;
      }
      const cut = armed && data.includes(signOf(armed.when)) ? armed : undefined;
      if (cut) armed = undefined;
      const answer = cut && swallowed(cut.when);
      if (cut && answer === undefined) {
        client.destroy();
        cut.done();
        return;
      }
      if (cut && answer !== undefined) swallowing = { answer, done: cut.done };
      upstream.write(data);
    });
    upstream.on("data", (data) => {
      if (!swallowing) {
        client.write(data);
        return;
      }
      // Of what was sent together, that answer is the last.
      if (!data.includes(swallowing.answer)) return;
      client.destroy();
      swallowing.done();
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
    hold: (text) => new Promise((done) => (holding = { text, done })),
  };
}
