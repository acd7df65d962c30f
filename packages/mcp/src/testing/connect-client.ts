/** For tests, also of other packages: an official client, connected. */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

/** Both ways to begin: with `initialize`, and without. */
export const REVISIONS = ["2025-11-25", "2026-07-28"] as const;
export type Revision = (typeof REVISIONS)[number];

export interface ClientWishes {
  readonly token?: string | undefined;
  /** Told of each change of the tools; only who has this listens. */
  readonly changes?: (() => void) | undefined;
}

export async function connectClient(
  url: string,
  revision: Revision,
  { token, changes }: ClientWishes = {},
): Promise<Client> {
  const isModern = revision === "2026-07-28";
  const tools = changes && { autoRefresh: false, debounceMs: 0, onChanged: changes };
  const client = new Client(
    { name: "a-client", version: "1" },
    {
      versionNegotiation: { mode: isModern ? { pin: revision } : "legacy" },
      ...(tools && { listChanged: { tools } }),
    },
  );
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
  await client.connect(transport);
  return client;
}
