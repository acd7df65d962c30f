import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { type AddressInfo, connect, createServer as createTcpServer, type Server } from "node:net";

/** A site of somebody else's, on a port of its own. */
export interface ForeignSite extends AsyncDisposable {
  readonly port: number;
}

const SCRIPT = readFileSync(new URL("./attacks.js", import.meta.url), "utf8");
const PAGE =
  '<!doctype html><title>somebody else</title><body>somebody else\'s page</body><script src="/attacks.js"></script>';

export async function startForeignSite(): Promise<ForeignSite> {
  const server = createServer(({ url }, response) => {
    const isScript = url === "/attacks.js";
    response
      .writeHead(200, { "content-type": isScript ? "text/javascript" : "text/html" })
      .end(isScript ? SCRIPT : PAGE);
  });
  return { port: await listening(server), [Symbol.asyncDispose]: () => closed(server) };
}

/**
 * A name that changes where it leads while its page is open (DNS rebinding): first to a site of
 * somebody else's, then, byte for byte, to the server on `port`.
 */
export interface Rebound extends ForeignSite {
  /** From now on it leads to the server. */
  rebind(): void;
}

export async function startRebound(target: number): Promise<Rebound> {
  await using stack = new AsyncDisposableStack();
  const site = stack.use(await startForeignSite());
  let to = site.port;
  const forwarder = createTcpServer((from) => {
    const onward = connect(to, "127.0.0.1");
    for (const socket of [from, onward]) socket.on("error", () => socket.destroy());
    from.pipe(onward).pipe(from);
  });
  const port = await listening(forwarder);
  stack.defer(() => closed(forwarder));
  const all = stack.move();
  return {
    port,
    rebind() {
      to = target;
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

function closed(server: Server): Promise<void> {
  if ("closeAllConnections" in server) (server.closeAllConnections as () => void)();
  return new Promise((resolve) => server.close(() => resolve()));
}
