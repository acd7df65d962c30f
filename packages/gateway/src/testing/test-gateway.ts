import { randomUUID } from "node:crypto";
import { once } from "node:events";
import {
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request,
} from "node:http";
import { buffer } from "node:stream/consumers";
import { Gateway, type GatewayStarted } from "../gateway.ts";
import type { GatewayOptions, ToolOptions } from "../gateway-options.ts";
import type { FakeEngine } from "./fake-engine.ts";

export interface Answered {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** Undefined where the body is no JSON. */
  readonly json: unknown;
}

interface Asked {
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string | Buffer;
}

export interface LogLine extends Readonly<Record<string, unknown>> {
  readonly level: string;
  readonly message: string;
}

export const TEST_TOOLS: ToolOptions = {
  version: "1.2.3",
  limits: { mcp_sync_timeout: 50, sync_timeout: 300 },
  maxValueBytes: 100_000,
  checkOutput: () => [],
  newSessionId: randomUUID,
};

/** A gateway of service `billing` on a free port of this machine. */
export class TestGateway implements AsyncDisposable {
  readonly gateway: Gateway;
  readonly lines: LogLine[];
  readonly started: GatewayStarted;

  private constructor(gateway: Gateway, started: GatewayStarted, lines: LogLine[]) {
    this.gateway = gateway;
    this.started = started;
    this.lines = lines;
  }

  static async start(
    engines: FakeEngine | readonly string[],
    options: Partial<GatewayOptions> = {},
  ): Promise<TestGateway> {
    const lines: LogLine[] = [];
    const write = (level: string) => (fields: object, message: string) =>
      void lines.push({ level, message, ...fields });
    let count = 0;
    const gateway = new Gateway({
      service: "billing",
      serverUrls: "url" in engines ? [engines.url] : engines,
      host: "127.0.0.1",
      port: 0,
      log: { info: write("info"), warn: write("warn"), error: write("error") },
      ids: () => `gateway-${++count}`,
      tools: TEST_TOOLS,
      ...options,
    });
    return new TestGateway(gateway, await gateway.start(), lines);
  }

  get url(): string {
    return this.started.url;
  }

  /** What was logged of requests. */
  get requests(): readonly LogLine[] {
    return this.lines.filter(({ message }) => message === "request");
  }

  /** Sends a request as it is: its path is not normalized. */
  async ask(line: string, asked: Asked = {}): Promise<Answered> {
    const { status, headers, message } = await this.open(line, asked);
    const body = await buffer(message);
    return { status, headers, body, json: parsed(body) };
  }

  /** The same, with the body of the answer still to come. */
  async open(
    line: string,
    { headers = {}, body }: Asked = {},
  ): Promise<{ status: number; headers: IncomingHttpHeaders; message: IncomingMessage }> {
    const sent = this.send(line, headers);
    sent.end(body);
    const [message] = (await once(sent, "response")) as [IncomingMessage];
    // An answer may come before all was sent, and what is left goes nowhere.
    sent.on("error", () => undefined);
    return { status: message.statusCode ?? 0, headers: message.headers, message };
  }

  /** The same, with the body of the request still to come. */
  send(line: string, headers: OutgoingHttpHeaders = {}): ClientRequest {
    const [method = "", path = ""] = line.split(" ");
    const { hostname, port } = new URL(this.url);
    return request({ host: hostname, port, method, path, headers, agent: false });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.gateway.close();
  }
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}
