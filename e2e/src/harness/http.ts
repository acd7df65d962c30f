import type { ExecutionRecord, RecordedEvent } from "@engine/contract";
import { AnswerCheck } from "@engine/server/answer-check";
import { readFrames, type SseFrame } from "./sse.ts";

export interface Answer<Body = unknown> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}

let check: AnswerCheck | undefined;

/** The wire as it is: every status is an answer; one that the document does not list is thrown. */
export class Http {
  readonly url: string;
  /** What every request is sent with. */
  readonly token: string | undefined;

  constructor(url: string, token?: string) {
    this.url = url;
    this.token = token;
  }

  get<Body = unknown>(path: string, headers?: Record<string, string>): Promise<Answer<Body>> {
    return this.#answer(path, { method: "GET", ...(headers && { headers }) });
  }

  /** `body` undefined sends none. */
  post<Body = unknown>(
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer<Body>> {
    const text = body === undefined ? undefined : JSON.stringify(body);
    return this.#answer(path, sending("POST", text, headers));
  }

  postText<Body = unknown>(path: string, text: string): Promise<Answer<Body>> {
    return this.#answer(path, sending("POST", text));
  }

  put<Body = unknown>(
    path: string,
    body: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer<Body>> {
    return this.#answer(path, sending("PUT", JSON.stringify(body), headers));
  }

  /** Frames of a streaming POST, each as it arrives. */
  stream(path: string, body: unknown): AsyncGenerator<SseFrame> {
    return this.#frames(path, sending("POST", JSON.stringify(body)));
  }

  /** Frames of an execution from its state now on, or those behind the one that was read last. */
  follow(id: string, lastEventId?: string): AsyncGenerator<SseFrame> {
    const headers = lastEventId === undefined ? {} : { "last-event-id": lastEventId };
    return this.#frames(`/executions/${id}?mode=stream`, { headers });
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

  #fetch(path: string, init: RequestInit): Promise<Response> {
    const headers = new Headers(init.headers);
    if (this.token !== undefined) headers.set("authorization", `Bearer ${this.token}`);
    return fetch(this.url + path, { ...init, headers });
  }

  async #answer<Body>(path: string, init: RequestInit): Promise<Answer<Body>> {
    const response = await this.#fetch(path, init);
    const text = await response.text();
    const { status, headers } = response;
    check ??= new AnswerCheck();
    const type = headers.get("content-type") ?? "";
    const misfit = check.misfit({ method: init.method ?? "GET", path, status, type, text });
    if (misfit !== undefined) throw new Error(misfit);
    return { status, headers, body: (text === "" ? null : JSON.parse(text)) as Body };
  }

  async *#frames(path: string, init: RequestInit): AsyncGenerator<SseFrame> {
    const response = await this.#fetch(path, init);
    if (!response.ok || !response.body) {
      throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
    }
    yield* readFrames(response.body);
  }
}

function sending(
  method: "POST" | "PUT",
  body: string | undefined,
  headers: Record<string, string> = {},
): RequestInit {
  if (body === undefined) return { method, headers };
  return { method, headers: { "content-type": "application/json", ...headers }, body };
}
