import type { Config } from "@engine/contract";
import { tlsProblems, unreadableNetworks } from "@engine/http";

/** What is wrong with how the server is reached, a line each (AUTH-3). */
export async function edgeProblems({
  config,
}: {
  readonly config: Pick<Config, "server">;
}): Promise<readonly string[]> {
  const { tls, trusted_proxies } = config.server;
  const networks = unreadableNetworks(trusted_proxies).map(
    (text) =>
      `engine.server.trusted_proxies: ${JSON.stringify(text)} is no network; expected one as "10.0.0.0/8", or an address`,
  );
  return [...networks, ...(await tlsProblems(tls))];
}
