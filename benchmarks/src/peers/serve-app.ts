// What the peers' programs share: the HTTP application around them, as small as it can be.
import { createServer, type IncomingMessage } from "node:http";

type Handler = (body: unknown) => Promise<unknown>;

/**
 * Serves `POST /<name>` for every handler on a free port, says on the first line of its output what it
 * is, and ends with whoever started it, however that one ended.
 */
export function serveApp(
  about: Readonly<Record<string, unknown>>,
  handlers: Readonly<Record<string, Handler>>,
): void {
  const server = createServer((request, response) => {
    const handler = handlers[request.url?.slice(1) ?? ""];
    answer(request, handler).then(
      (value) => response.end(JSON.stringify(value ?? null)),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  server.listen(0, "127.0.0.1", () => {
    const address = server.address();
    const port = typeof address === "object" ? address?.port : undefined;
    process.stdout.write(`ready ${JSON.stringify({ port, ...about })} end\n`);
  });
  endWithParent();
}

export function endWithParent(): void {
  process.stdin.on("end", () => process.exit());
  process.stdin.resume();
}

async function answer(request: IncomingMessage, handler: Handler | undefined): Promise<unknown> {
  let text = "";
  request.setEncoding("utf8");
  for await (const chunk of request) text += chunk;
  if (!handler) throw new Error(`no ${request.url}`);
  return handler(text === "" ? undefined : JSON.parse(text));
}
