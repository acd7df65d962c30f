import { userInfo } from "node:os";
import { type AuditEntry, type Config, databaseUrl } from "@engine/contract";
import { loadConfig } from "@engine/local/config";
import type { Store } from "@engine/store";
import type { Command } from "commander";
import type { CliIo } from "../../io/cli-io.ts";
import { processPorts } from "../../io/process-ports.ts";

export interface HostOptions {
  readonly databaseUrl?: string;
}

/** What commands work with that are run where the server's data lies. */
export interface Host {
  readonly config: Config;
  readonly store: Store;
  readonly ports: {
    readonly store: Store;
    readonly config: Config;
    readonly clock: () => number;
    readonly ids: () => string;
    readonly token: () => string;
  };
  /** As the audit log names whoever types. */
  readonly user: string;
  /** The row of the audit log for what a command does. */
  entry(action: string, target: string | null): AuditEntry;
}

export function hostOptions(command: Command): Command {
  return command.option(
    "--database-url <url>",
    "database to work on (default: ENGINE_DATABASE_URL, engine.toml, sqlite:<home>/engine.db)",
  );
}

/** Opens the store of this host, beside a server that may be running on it (AUTH-60). */
export async function onHost<Value>(
  io: CliIo,
  { databaseUrl: flag }: HostOptions,
  work: (host: Host) => Promise<Value>,
): Promise<Value> {
  const { config } = loadConfig({ ...io, flags: { database_url: flag } });
  const { openStore } = await import("@engine/store");
  const store = await openStore(databaseUrl(config), {
    synchronous: config.store.synchronous,
    warn: (message) => io.err.write(`${message}\n`),
  });
  const { clock, token, ids } = processPorts;
  const user = `local:${userInfo().username}`;
  try {
    return await work({
      config,
      store,
      ports: { store, config, clock, ids, token },
      user,
      entry: (action, target) => ({
        id: ids(),
        at: clock(),
        actor: { subject: user, issuer: "engine", type: "local" },
        credential: { kind: "local", id: null },
        via_execution: null,
        action,
        target,
        decision: "allow",
        permissions: [],
        reason: null,
        client_address: null,
        request_id: null,
        changes: null,
      }),
    });
  } finally {
    await store.close();
  }
}
