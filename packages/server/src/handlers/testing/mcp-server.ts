/** For tests: a service over a real server, with official clients of MCP and a worker that is played. */
import { type ClientWishes, connectClient, type Revision } from "@engine/mcp/test-client";
import type { Client } from "@modelcontextprotocol/client";
import { onTestFinished } from "vitest";
import { type Ask, asking } from "../../auth/testing/asking.ts";
import { type GuardedServer, guardedServer } from "../../auth/testing/guarded-server.ts";
import { ScriptedWorker } from "../../testing/scripted-worker.ts";

/** Source of a workflow of namespace `shop` that the worker plays. */
export const source = (name: string, types = "", about = ""): string =>
  `import { workflow } from "@engine/sdk";
import { z } from "zod";
/** ${about || `Makes a ${name}.`} */
export const it = workflow({ name: "${name}", namespace: "shop"${types} }, async (i) => i);
`;

export const CENTS =
  ", input: z.object({ cents: z.number() }), output: z.object({ total: z.int() })";

export interface McpServer extends GuardedServer {
  /** As the admin, or as anybody where authorization is off. */
  readonly as: Ask;
  client(revision: Revision, wishes?: ClientWishes): Promise<Client>;
  /** One message without a client. */
  post(
    message: unknown,
    headers?: Readonly<Record<string, string>>,
    token?: string | null,
  ): Promise<Response>;
  worker(): Promise<ScriptedWorker>;
}

/** Service `shop` with workflow `invoice`; with authorization unless it is switched off. */
export async function mcpServer(options: Parameters<typeof guardedServer>[0]): Promise<McpServer> {
  const server = await guardedServer(options);
  const as = asking(server, server.adminKey);
  await as("POST", "/workflows", { source: source("invoice", CENTS) });
  await as("POST", "/services", { name: "shop", namespaces: ["shop"], mcp_enabled: true });
  const { url, workers } = server.server;
  const endpoint = `${url}/services/shop/mcp`;
  return {
    ...server,
    as,
    async client(revision, wishes = {}) {
      const client = await connectClient(endpoint, revision, {
        token: server.adminKey,
        ...wishes,
      });
      onTestFinished(() => client.close());
      return client;
    },
    post: (message, headers = {}, token = server.adminKey ?? null) =>
      fetch(endpoint, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          ...(token !== null && { authorization: `Bearer ${token}` }),
          ...headers,
        },
        body: typeof message === "string" ? message : JSON.stringify(message),
      }),
    async worker() {
      const worker = new ScriptedWorker("w", workers, Date.now);
      await worker.register();
      await worker.connect();
      return worker;
    },
  };
}
