import { KeptConnection } from "./kept-connection.ts";

export interface JsonCall {
  readonly method: "GET" | "POST" | "PUT";
  readonly path: string;
  /** Sent as JSON unless undefined. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** JSON over kept connections, as many as there are requests at a time. */
export class JsonClient {
  readonly #url: URL;
  readonly #idle: KeptConnection[] = [];
  readonly #all = new Set<KeptConnection>();
  readonly #own: Readonly<Record<string, string>>;

  /** @param token Of whoever asks; nobody's when absent. */
  constructor(url: string, token?: string) {
    this.#url = new URL(url);
    this.#own = token === undefined ? {} : { authorization: `Bearer ${token}` };
  }

  /** Rejects with what was answered unless it is a success. */
  async send<Answer>({ method, path, body, headers = {} }: JsonCall): Promise<Answer> {
    const connection = this.#take();
    const text = body === undefined ? undefined : JSON.stringify(body);
    const type = text === undefined ? {} : { "content-type": "application/json" };
    const all = { ...type, ...this.#own, ...headers };
    const answer = await connection.send(`${method} ${path}`, all, text);
    if (connection.isOpen) this.#idle.push(connection);
    else this.#all.delete(connection);
    if (answer.status < 300) {
      return (answer.text === "" ? undefined : JSON.parse(answer.text)) as Answer;
    }
    throw new Error(`${method} ${path} answered ${answer.status}: ${answer.text.slice(0, 500)}`);
  }

  close(): void {
    for (const connection of this.#all) connection.close();
    this.#idle.length = 0;
    this.#all.clear();
  }

  #take(): KeptConnection {
    for (let idle = this.#idle.pop(); idle; idle = this.#idle.pop()) if (idle.isOpen) return idle;
    const fresh = new KeptConnection(this.#url);
    this.#all.add(fresh);
    return fresh;
  }
}
