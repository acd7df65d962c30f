import { authSwitch, type Config, databaseUrl } from "@engine/contract";
import type { Server, ServerOptions } from "@engine/server";
import type { Logger } from "pino";
import type { LogMask } from "./io/log.ts";
import { processPorts } from "./io/process-ports.ts";
import { productVersion } from "./product-version.ts";

/** A server with everything below it. */
export interface OpenServer {
  readonly server: Server;
  /** Where its data lies, without user and password. */
  readonly database: string;
  close(): Promise<void>;
}

/** Takes the home folder, opens the store and starts the server; undoes it all when one fails. */
export async function openServer(
  config: Config,
  log: Logger,
  { mask, ...own }: Pick<ServerOptions, "ownToken"> & { readonly mask?: LogMask } = {},
): Promise<OpenServer> {
  // Loaded here, so that commands without a server start without one.
  const [{ lockServer, openStore, shownDatabaseUrl }, { startServer }] = await Promise.all([
    import("@engine/store"),
    import("@engine/server"),
  ]);
  const url = databaseUrl(config);
  const lock = lockServer(config.home, url);
  try {
    const store = await openStore(url, {
      synchronous: config.store.synchronous,
      hooks: config.hooks,
      warn: (message) => log.warn(message),
    });
    try {
      const server = await startServer({
        ...processPorts,
        ...own,
        config,
        store,
        log,
        version: productVersion(),
      });
      if (mask) mask.masked = (line) => server.engine.masks.line(line);
      if (!authSwitch(config.security.auth).isOn) {
        const address = `${config.server.host}:${server.port}`;
        const meaning = `authentication is off: whoever reaches ${address} may run and read everything`;
        log.warn({ address }, meaning);
      }
      // A hangup ends a process that has no certificate to read again, as it ends any other.
      const hangup = () => void server.reloadTls();
      if (config.server.tls.cert_file) process.on("SIGHUP", hangup);
      return {
        server,
        database: shownDatabaseUrl(url),
        async close() {
          await server.close();
          await store.close();
          lock.release();
          process.off("SIGHUP", hangup);
        },
      };
    } catch (error) {
      await store.close();
      throw error;
    }
  } catch (error) {
    lock.release();
    throw error;
  }
}
