import { createHash } from "node:crypto";
import { once } from "node:events";
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { notFound, type ResolvedService } from "@engine/contract";
import { resolvedService } from "./resolved-service.ts";

type Answering = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** Each with all its values, however often it came. */
  readonly headersDistinct: IncomingMessage["headersDistinct"];
}

/** A server for tests on a real socket: it has service `billing`, and answers as a test says. */
export class FakeEngine implements AsyncDisposable {
  /** Undefined: there is no such service. */
  service: ResolvedService | undefined = resolvedService(["invoice"]);
  /** Answers whatever does not ask for the list; unless replaced it says what it was sent. */
  answer: Answering = echo;
  /** Answers what asks for the list, where a test wants something else. */
  answerList: Answering = (request, response) => this.#list(request, response);
  /** All but what asked for the list. */
  readonly received: Received[] = [];
  readonly lists: Received[] = [];
  readonly #server: Server;
  #port = 0;
  connections = 0;

  private constructor() {
    this.#server = createServer((request, response) => void this.#take(request, response));
    this.#server.on("connection", () => void this.connections++);
  }

  static async start(): Promise<FakeEngine> {
    const engine = new FakeEngine();
    await engine.listen();
    return engine;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Where it was before, after {@link stop}. */
  async listen(): Promise<void> {
    this.#server.listen(this.#port, "127.0.0.1");
    await once(this.#server, "listening");
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  /** As a process that is killed. */
  async stop(): Promise<void> {
    if (!this.#server.listening) return;
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, "close");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "", url = "", headers, headersDistinct } = request;
    const isList = method === "GET" && url === "/services/billing";
    (isList ? this.lists : this.received).push({ method, url, headers, headersDistinct });
    await (isList ? this.answerList : this.answer)(request, response);
  }

  #list(request: IncomingMessage, response: ServerResponse): void {
    if (!this.service) {
      response.writeHead(404, { "content-type": "application/json" });
      response.end(JSON.stringify(notFound("service", "billing").toBody()));
      return;
    }
    const text = JSON.stringify(this.service);
    const etag = `"${createHash("sha256").update(text).digest("hex")}"`;
    if (request.headers["if-none-match"] === etag) response.writeHead(304, { etag }).end();
    else response.writeHead(200, { "content-type": "application/json", etag }).end(text);
  }
}

async function echo(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method, url } = request;
  const body = (await buffer(request)).toString("latin1");
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify({ method, url, body }));
}
