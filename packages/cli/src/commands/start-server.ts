import { loadConfig } from "@engine/local/config";
import type { Command } from "commander";
import { port } from "../arguments/option-values.ts";
import { examples } from "../examples.ts";
import type { CliIo } from "../io/cli-io.ts";
import { createLog, logMask } from "../io/log.ts";
import { openServer } from "../open-server.ts";
import { serveUntilStopped } from "../serve-until-stopped.ts";

interface ServerFlags {
  readonly host?: string;
  readonly port?: number;
  readonly databaseUrl?: string;
}

export function addStartServer(start: Command, io: CliIo): void {
  const command = start
    .command("server")
    .summary("Starts the server.")
    .description(
      "Starts the server: it keeps every execution, and gives work to the workers that connect. One server per home folder; with a PostgreSQL database any number of servers.",
    )
    .option("--host <address>", "address to listen on (default: 127.0.0.1)")
    .option("--port <n>", "port to listen on; 0 = any free one, printed (default: 8000)", port)
    .option(
      "--database-url <url>",
      "sqlite:<path>, or postgres://user:password@host:port/database (default: sqlite:<home>/engine.db)",
    )
    .action(async (flags: ServerFlags) => {
      const { config } = loadConfig({
        ...io,
        flags: { database_url: flags.databaseUrl, server: { host: flags.host, port: flags.port } },
      });
      const signals = io.stopSignals();
      const mask = logMask();
      const log = await createLog(config.log_level, io, mask);
      const engine = await openServer(config, log, { mask });
      io.out.write(`engine server on ${engine.server.url}, database ${engine.database}\n`);
      await serveUntilStopped({
        signals,
        ended: new Promise(() => {}),
        stop: () => engine.close(),
        // The process ends next: what is committed is safe, and nothing else counts.
        abort: async () => {},
      });
    });
  examples(command, [
    "start server",
    "start server --host 0.0.0.0 --port 9000",
    "start server --database-url postgres://engine:secret@db.internal:5432/engine",
  ]);
}
