/** For tests: official clients of MCP at a gateway, and an engine that plays the run of a tool. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { type ClientWishes, connectClient, type Revision } from "@engine/mcp/test-client";
import type { Client } from "@modelcontextprotocol/client";
import { onTestFinished } from "vitest";
import type { TestGateway } from "./test-gateway.ts";

/** A client that has connected, closed when the test is over. */
export async function toolClient(
  { url }: Pick<TestGateway, "url">,
  revision: Revision,
  wishes: ClientWishes = {},
): Promise<Client> {
  const client = await connectClient(`${url}/mcp`, revision, wishes);
  onTestFinished(() => client.close());
  return client;
}

export const names = ({
  tools,
}: {
  readonly tools: readonly { readonly name: string }[];
}): string[] => tools.map(({ name }) => name);

export const textOf = (result: unknown): string =>
  (result as { content: { text: string }[] }).content.map(({ text }) => text).join("\n");

const RUN = { execution_id: "e-1", namespace: "shop", workflow: "invoice", version: 1 };

/** Answers a run in mode stream: the execution completes with its input, after one value of progress. */
export async function completes(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const output: unknown = JSON.parse((await buffer(request)).toString());
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = (event: string, data: object) =>
    response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  send("invoice.execution.created", { ...RUN, state: "CREATED", output: null });
  send("task.progress", {
    ...{ type: "TASK_PROGRESS", source_id: "pay~1", name: "pay", time: "2026-01-01T00:00:00Z" },
    value: "half",
  });
  send("invoice.execution.completed", { ...RUN, state: "COMPLETED", output });
  response.end();
}
