import { Agent, type IncomingMessage, type OutgoingHttpHeaders, request } from "node:http";

export interface JsonCall {
  readonly method: "GET" | "POST";
  readonly path: string;
  /** Sent as JSON unless undefined. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** JSON over kept-alive connections and nothing above `node:http`. */
export class JsonClient {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 256 });
  readonly #url: URL;

  constructor(url: string) {
    this.#url = new URL(url);
  }

  /** Rejects with what was answered unless it is a success. */
  async send<Answer>({ method, path, body, headers: given }: JsonCall): Promise<Answer> {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const headers: OutgoingHttpHeaders = { ...given };
    if (text !== undefined) {
      headers["content-type"] = "application/json";
      headers["content-length"] = Buffer.byteLength(text);
    }
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const outgoing = request(new URL(path, this.#url), { method, headers, agent: this.#agent });
      outgoing.once("error", reject).once("response", resolve).end(text);
    });
    const answered = await readText(answer);
    const status = answer.statusCode ?? 0;
    if (status < 300) return (answered === "" ? undefined : JSON.parse(answered)) as Answer;
    throw new Error(`${method} ${path} answered ${status}: ${answered.slice(0, 500)}`);
  }

  close(): void {
    this.#agent.destroy();
  }
}

async function readText(answer: IncomingMessage): Promise<string> {
  answer.setEncoding("utf8");
  let text = "";
  for await (const chunk of answer) text += chunk;
  return text;
}
