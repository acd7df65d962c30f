import type { ExecutionRecord, RecordedEvent } from "@engine/contract";
import { readFrames, type SseFrame } from "./sse.ts";

export interface Answer<Body = unknown> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}

/** The wire as it is: every status is an answer, nothing is checked or thrown. */
export class Http {
  readonly url: string;

  constructor(url: string) {
    this.url = url;
  }

  get<Body = unknown>(path: string): Promise<Answer<Body>> {
    return this.#answer("GET", path);
  }

  /** `body` undefined sends none. */
  post<Body = unknown>(path: string, body?: unknown): Promise<Answer<Body>> {
    return this.#answer("POST", path, body === undefined ? undefined : JSON.stringify(body));
  }

  postText<Body = unknown>(path: string, text: string): Promise<Answer<Body>> {
    return this.#answer("POST", path, text);
  }

  /** Frames of a streaming POST, each as it arrives. */
  async *stream(path: string, body: unknown): AsyncGenerator<SseFrame> {
    const response = await fetch(this.url + path, jsonPost(JSON.stringify(body)));
    if (!response.ok || !response.body) {
      throw new Error(`POST ${path} answered ${response.status}: ${await response.text()}`);
    }
    yield* readFrames(response.body);
  }

  async execution(id: string): Promise<ExecutionRecord> {
    return (await this.get<ExecutionRecord>(`/executions/${id}`)).body;
  }

  /** The whole log, page by page. */
  async log(id: string): Promise<RecordedEvent[]> {
    const events: RecordedEvent[] = [];
    for (;;) {
      const { body } = await this.get<{ items: RecordedEvent[] }>(
        `/executions/${id}/events?after=${events.length}&limit=1000`,
      );
      events.push(...body.items);
      if (body.items.length < 1000) return events;
    }
  }

  async isHealthy(): Promise<boolean> {
    try {
      return (await fetch(`${this.url}/health`)).ok;
    } catch {
      return false;
    }
  }

  async #answer<Body>(method: string, path: string, body?: string): Promise<Answer<Body>> {
    const init = body === undefined ? { method } : jsonPost(body);
    const response = await fetch(this.url + path, init);
    const text = await response.text();
    const { status, headers } = response;
    return { status, headers, body: (text === "" ? null : JSON.parse(text)) as Body };
  }
}

function jsonPost(body: string): RequestInit {
  return { method: "POST", headers: { "content-type": "application/json" }, body };
}
