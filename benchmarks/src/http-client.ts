import { Agent, type IncomingMessage, request } from "node:http";
import type { ExecutionRecord, RecordedEvent, State } from "@engine/contract";
import { gate } from "./gate.ts";

/** What measurements ask of a server, over kept-alive connections and nothing above `node:http`. */
export class HttpClient {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 256 });
  readonly #url: URL;

  constructor(url: string) {
    this.#url = new URL(url);
  }

  /** Runs to the end. Anything but COMPLETED fails the run. */
  async run(workflow: string, input: unknown): Promise<ExecutionRecord> {
    const record = await this.post(`/workflows/bench/${workflow}/run/sync`, input);
    gate(record.state === "COMPLETED", () => `${workflow} ended ${record.state}`);
    return record;
  }

  async post(path: string, body: unknown): Promise<ExecutionRecord> {
    return (await this.#send("POST", path, JSON.stringify(body))) as ExecutionRecord;
  }

  async get<Answer>(path: string): Promise<Answer> {
    return (await this.#send("GET", path)) as Answer;
  }

  /** The whole log, page by page. */
  async log(executionId: string): Promise<RecordedEvent[]> {
    const events: RecordedEvent[] = [];
    for (;;) {
      const page = await this.get<{ items: RecordedEvent[] }>(
        `/executions/${executionId}/events?after=${events.length}&limit=5000`,
      );
      events.push(...page.items);
      if (page.items.length < 5000) return events;
    }
  }

  async countExecutions(workflow: string, state?: State): Promise<number> {
    const filter = state ? `&state=${state}` : "";
    const page = await this.get<{ total: number }>(
      `/workflows/bench/${workflow}/executions?limit=1${filter}`,
    );
    return page.total;
  }

  /** `engine dev` prints its address before its files are registered. */
  async untilRegistered(workflow: string): Promise<void> {
    const deadline = performance.now() + 20_000;
    while (performance.now() < deadline) {
      try {
        await this.get(`/workflows/bench/${workflow}`);
        return;
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
    throw new Error(`${workflow} was not registered within 20 s`);
  }

  close(): void {
    this.#agent.destroy();
  }

  #send(method: string, path: string, body?: string): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const headers = body === undefined ? {} : jsonHeaders(body);
      const outgoing = request(new URL(path, this.#url), { method, headers, agent: this.#agent });
      outgoing.once("error", reject);
      outgoing.once("response", (answer) => {
        readText(answer).then((text) => {
          const status = answer.statusCode ?? 0;
          if (status < 300) resolve(JSON.parse(text));
          else reject(new Error(`${method} ${path} answered ${status}: ${text.slice(0, 500)}`));
        }, reject);
      });
      outgoing.end(body);
    });
  }
}

function jsonHeaders(body: string): Record<string, string | number> {
  return { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
}

async function readText(answer: IncomingMessage): Promise<string> {
  answer.setEncoding("utf8");
  let text = "";
  for await (const chunk of answer) text += chunk;
  return text;
}
