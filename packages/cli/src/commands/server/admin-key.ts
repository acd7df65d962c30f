import type { Command } from "commander";
import { neverAnArgument } from "../../arguments/hidden-value.ts";
import { examples } from "../../examples.ts";
import type { CliIo } from "../../io/cli-io.ts";
import { lines } from "../../render/table.ts";
import { type HostOptions, hostOptions, onHost } from "./on-host.ts";

export function addAdminKey(server: Command, io: CliIo): void {
  const command = hostOptions(
    server
      .command("admin-key")
      .summary("Prints the key of the first admin.")
      .description(
        "Prints the key of the first admin, on the host of the server that made it: it lies in <home>/admin-key. Rotating makes another one for the same account, and the old one counts nowhere from then on; servers that run hear of it within two seconds. Where nobody can log in as admin any more, it makes an account that can.",
      )
      .option("--rotate", "make a new one, and revoke the old one"),
  ).action((options: HostOptions & { readonly rotate?: boolean }) =>
    onHost(io, options, async ({ ports, entry }) => {
      const { readAdminKey, rotateAdminKey } = await import("@engine/server");
      if (!options.rotate) {
        io.out.write(`${await readAdminKey(ports)}\n`);
        return;
      }
      const made = await rotateAdminKey(ports, entry("server.admin_key.rotate", null));
      io.out.write(`${made.key}\n`);
      const said = `new key of ${made.subject}, also in ${made.path}; the old one counts no more`;
      io.err.write(lines([said]));
    }),
  );
  neverAnArgument(command, "key", "it is read from its file, or made here");
  examples(command, [
    "server admin-key",
    "server admin-key --rotate",
    "server admin-key | npx engine auth login --api-key",
  ]);
}
