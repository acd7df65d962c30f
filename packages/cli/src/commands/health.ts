import type { Command } from "commander";
import { examples } from "../examples.ts";
import { Reported, reportError } from "../io/cli-error.ts";
import type { CliIo } from "../io/cli-io.ts";
import { fields, lines } from "../render/table.ts";
import { callServer, type ServerOptions, serverOptions } from "../server-call.ts";

export function addHealth(program: Command, io: CliIo): void {
  const command = program
    .command("health")
    .summary("Says whether the server answers.")
    .description("Says whether the server and its database answer; exit code 1 when they do not.");
  serverOptions(command).action((options: ServerOptions) =>
    callServer(io, options, async ({ client, print, paint, url }) => {
      const { status, body } = await client.system.health({});
      const mark = status === 200 ? paint("running", "✓ healthy") : paint("failed", "✗ unhealthy");
      print(
        body,
        () =>
          lines([mark]) +
          fields(
            [
              ["server", url],
              ["database", body.database],
              ["version", body.version],
            ],
            paint,
          ),
      );
      if (status === 200) return;
      reportError(io, `the database of ${url} does not answer`);
      throw new Reported();
    }),
  );
  examples(command, ["health", "health --server-url http://127.0.0.1:8001 --format json"]);
}
