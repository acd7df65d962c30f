import { fileURLToPath } from "node:url";
import { startProcess } from "../bench-process.ts";
import type { Cleanup } from "../cleanup.ts";
import { gate } from "../gate.ts";
import { PEERS } from "./installed-peers.ts";

const PROGRAM = fileURLToPath(new URL("src/restate-server.ts", PEERS));
/** Of its configuration: whether what it acknowledged has been synced to the disk. */
const SYNC_KEY = "rocksdb-disable-wal-fsync";

export interface RestateServer {
  readonly ingress: string;
  readonly admin: string;
  readonly durability: string;
}

/** Its defaults, but for what keeps it on this machine and in that folder. */
export async function startRestateServer(folder: string, cleanup: Cleanup): Promise<RestateServer> {
  const env = {
    RESTATE_BASE_DIR: folder,
    RESTATE_NODE_NAME: "bench",
    RESTATE_BIND_IP: "127.0.0.1",
    RESTATE_ADVERTISED_HOST: "127.0.0.1",
    RESTATE_LISTEN_MODE: "tcp",
    RESTATE_USE_RANDOM_PORTS: "true",
    RESTATE_DISABLE_TELEMETRY: "true",
    RESTATE_LOG_DISABLE_ANSI_CODES: "true",
  };
  const options = { cwd: folder, env };
  const durability = await dumpedDurability(options);
  const server = startProcess("restate-server", [PROGRAM, "--no-logo"], options);
  cleanup.push(() => server.stop());
  const [ingress, admin] = await Promise.all([
    server.printed(/http-ingress-server[\s\S]*?server\.port: (\d+)/),
    server.printed(/admin-api-server[\s\S]*?server\.port: (\d+)/),
  ]);
  return {
    ingress: `http://127.0.0.1:${ingress[1]}`,
    admin: `http://127.0.0.1:${admin[1]}`,
    durability,
  };
}

/** As the server itself prints the configuration it would run with. */
async function dumpedDurability(options: {
  cwd: string;
  env: Readonly<Record<string, string>>;
}): Promise<string> {
  const dump = startProcess("restate-server", [PROGRAM, "--dump-config"], options);
  const [, , value] = await dump.printed(
    new RegExp(`^\\[log-server\\]$(\\n(?!\\[).*)*?\\n${SYNC_KEY} = (\\w+)$`, "m"),
  );
  await dump.succeeded();
  gate(value === "true" || value === "false", () => `${SYNC_KEY} is ${value}`);
  return `log-server ${SYNC_KEY}=${value}${value === "false" ? " (it syncs)" : " (no sync)"}`;
}
