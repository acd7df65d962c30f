import type { Command } from "commander";
import { examples } from "../../examples.ts";
import type { CliIo } from "../../io/cli-io.ts";
import { type HostOptions, hostOptions, onHost } from "./on-host.ts";

export function addBootstrapToken(server: Command, io: CliIo): void {
  const command = hostOptions(
    server
      .command("bootstrap-token")
      .summary("Prints the token with which any worker may join.")
      .description(
        "Prints the token with which any worker may join, on the host of the server that made it. Rotating makes another one, and the old one counts nowhere from then on; workers that have joined stay.",
      )
      .option("--rotate", "make a new one"),
  ).action((options: HostOptions & { readonly rotate?: boolean }) =>
    onHost(io, options, async ({ ports, entry }) => {
      const { readBootstrapToken, rotateBootstrapToken } = await import("@engine/server");
      const token = options.rotate
        ? await rotateBootstrapToken(ports, entry("server.bootstrap_token.rotate", null))
        : await readBootstrapToken(ports);
      io.out.write(`${token}\n`);
    }),
  );
  examples(command, ["server bootstrap-token", "server bootstrap-token --rotate"]);
}
