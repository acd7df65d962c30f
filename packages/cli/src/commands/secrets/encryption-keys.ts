/** The commands about the keys that secrets are sealed with (SEC-1, SEC-3). */
import { setTimeout as delay } from "node:timers/promises";
import type { EncryptionStatus } from "@engine/contract";
import type { Command } from "commander";
import { examples } from "../../examples.ts";
import { Reported } from "../../io/cli-error.ts";
import type { CliIo } from "../../io/cli-io.ts";
import { counted } from "../../render/counted.ts";
import { keyRingTable } from "../../render/secret-view.ts";
import { onServer, type ServerCall, type ServerOptions, serverFlag } from "../../server-call.ts";

export function addKeys(secrets: Command, io: CliIo): void {
  const command = secrets
    .command("keys")
    .summary("Lists the encryption keys.")
    .description(
      "Lists the encryption keys of the configuration, and how much is sealed with each. One that seals nothing can be taken out of the configuration. Takes admin:encryption:manage.",
    );
  onServer(io, command, async ({ client, print }) =>
    print(await client.encryption.status(), (status, screen) =>
      status.rotating
        ? `${keyRingTable(status, screen)}Everything is being sealed with ${status.primary}.\n`
        : keyRingTable(status, screen),
    ),
  );
  examples(command, ["secrets keys"]);
}

export function addRotateKeys(secrets: Command, io: CliIo): void {
  const command = secrets
    .command("rotate-keys")
    .summary("Seals everything with the primary key.")
    .description(
      "Seals everything that another key seals with the primary one, and waits until that is done; the server does it and goes on also where nobody waits. Values stay as they are and can be read all the while. Takes admin:encryption:manage.",
    );
  onServer(io, command, async (server, options: ServerOptions) => {
    const begun = await server.client.encryption.rotate();
    const status = await untilDone(io, server, begun, options);
    server.print(status, keyRingTable);
    const left = leftOf(status);
    if (left === 0) return;
    io.err.write(
      `error: ${counted(left, "data key")} could not be sealed anew: the log of the server says why\n`,
    );
    throw new Reported();
  });
  examples(command, ["secrets rotate-keys"]);
}

const LOOK_MS = 500;

/** Looks again and again until the server is done, and tells how much is left whenever that changes. */
async function untilDone(
  io: CliIo,
  { client }: ServerCall,
  begun: EncryptionStatus,
  options: ServerOptions,
): Promise<EncryptionStatus> {
  const leaving = new AbortController();
  void io.stopSignals().first.then(() => leaving.abort());
  let told: number | undefined;
  for (let status = begun; ; ) {
    if (!status.rotating) return status;
    const left = leftOf(status);
    if (left > 0 && left !== told) io.err.write(`${counted(left, "data key")} left\n`);
    told = left;
    await delay(LOOK_MS, undefined, { signal: leaving.signal }).catch(() => undefined);
    if (leaving.signal.aborted) {
      const again = `npx engine secrets keys${serverFlag(options)}`;
      io.err.write(`note: the server goes on with it; see how far it is with: ${again}\n`);
      throw new Reported();
    }
    status = await client.encryption.status();
  }
}

function leftOf({ primary, keys }: EncryptionStatus): number {
  return keys.filter(({ id }) => id !== primary).reduce((sum, { rows }) => sum + rows, 0);
}
