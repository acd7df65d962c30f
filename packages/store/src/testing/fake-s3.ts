import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll } from "vitest";

export interface FakeS3 {
  readonly endpoint: string;
  /** Text by `<bucket>/<key>`. */
  readonly objects: Map<string, string>;
  /** `Authorization` of every request. */
  readonly signatures: (string | undefined)[];
  /** What every request is answered with, instead of an answer. */
  refusal: { status: number; code: string } | undefined;
}

/** The few calls of S3 that we use, on this machine; unsigned requests are refused. */
export async function startFakeS3(): Promise<FakeS3> {
  const objects = new Map<string, string>();
  const signatures: (string | undefined)[] = [];
  const server = createServer((request, response) => void answer(request, response));
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await bodyOf(request);
    const { authorization } = request.headers;
    signatures.push(authorization);
    if (fake.refusal) refuse(response, fake.refusal.status, fake.refusal.code);
    else if (!/^AWS4-HMAC-SHA256 .*Signature=[0-9a-f]{64}$/.test(authorization ?? "")) {
      refuse(response, 403, "AccessDenied");
    } else serve(objects, request, body, response);
  };
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  afterAll(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  const fake: FakeS3 = {
    endpoint: `http://127.0.0.1:${port}`,
    objects,
    signatures,
    refusal: undefined,
  };
  return fake;
}

function serve(
  objects: Map<string, string>,
  request: IncomingMessage,
  body: string,
  response: ServerResponse,
): void {
  const url = new URL(request.url ?? "", "http://s3");
  const path = decodeURIComponent(url.pathname).slice(1);
  if (request.method === "PUT") {
    objects.set(path, body);
    response.writeHead(200).end();
  } else if (request.method === "DELETE") {
    objects.delete(path);
    response.writeHead(204).end();
  } else if (url.searchParams.has("list-type")) {
    response.writeHead(200, { "content-type": "application/xml" });
    response.end(listing(objects, path.replace(/\/$/, ""), url.searchParams));
  } else {
    const text = objects.get(path);
    if (text === undefined) refuse(response, 404, "NoSuchKey");
    else response.writeHead(200, { "content-type": "application/json" }).end(text);
  }
}

/** At most two keys a page, so that pages are needed. The token is the last key of the page. */
function listing(objects: Map<string, string>, bucket: string, query: URLSearchParams): string {
  const prefix = `${bucket}/${query.get("prefix") ?? ""}`;
  const after = query.get("continuation-token") ?? "";
  const keys = [...objects.keys()]
    .filter((path) => path.startsWith(prefix))
    .map((path) => path.slice(bucket.length + 1))
    .filter((key) => key > after)
    .sort();
  const page = keys.slice(0, 2);
  const next = keys.length > 2 ? `<NextContinuationToken>${page[1]}</NextContinuationToken>` : "";
  const contents = page.map((key) => `<Contents><Key>${key}</Key></Contents>`).join("");
  return `<?xml version="1.0"?><ListBucketResult><IsTruncated>${keys.length > 2}</IsTruncated>${next}${contents}</ListBucketResult>`;
}

function refuse(response: ServerResponse, status: number, code: string): void {
  response.writeHead(status, { "content-type": "application/xml" });
  response.end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>no</Message></Error>`);
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}
