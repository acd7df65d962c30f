import type { Command } from "commander";
import { examples } from "../examples.ts";
import { Reported, reportError } from "../io/cli-error.ts";
import type { CliIo } from "../io/cli-io.ts";
import { titled } from "../render/table.ts";
import { onServer } from "../server-call.ts";

export function addHealth(program: Command, io: CliIo): void {
  const command = program
    .command("health")
    .summary("Says whether the server answers.")
    .description("Says whether the server and its database answer; exit code 1 when they do not.");
  onServer(io, command, async ({ client, print, url }) => {
    const { status, body } = await client.system.health({});
    const isHealthy = status === 200;
    print(body, ({ database, version }, { paint }) => {
      const mark = isHealthy ? paint("running", "✓ healthy") : paint("failed", "✗ unhealthy");
      return titled(paint, mark, [
        ["server", url],
        ["database", database],
        ["version", version],
      ]);
    });
    if (isHealthy) return;
    reportError(io, `the database of ${url} does not answer`);
    throw new Reported();
  });
  examples(command, ["health", "health --server-url http://127.0.0.1:8001 --format json"]);
}
