import type { ExecutionRecord, RecordedEvent, State } from "@engine/contract";
import { gate } from "./gate.ts";
import { JsonClient } from "./json-client.ts";
import { until } from "./until.ts";

/** What measurements ask of a server. */
export class HttpClient {
  readonly #http: JsonClient;

  /** @param token Of whoever asks; nobody's when absent. */
  constructor(url: string, token?: string) {
    this.#http = new JsonClient(url, token);
  }

  /** Runs to the end. Anything but COMPLETED fails the run. */
  async run(workflow: string, input: unknown): Promise<ExecutionRecord> {
    const record = await this.post(`/workflows/bench/${workflow}/run/sync`, input);
    gate(record.state === "COMPLETED", () => `${workflow} ended ${record.state}`);
    return record;
  }

  /** Starts an execution without waiting for it. */
  async start(
    workflow: string,
    input: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<string> {
    const path = `/workflows/bench/${workflow}/run/async`;
    const call = { method: "POST", path, body: input, headers } as const;
    return (await this.#http.send<ExecutionRecord>(call)).execution_id;
  }

  post(path: string, body: unknown): Promise<ExecutionRecord> {
    return this.#http.send({ method: "POST", path, body });
  }

  async put(path: string, body: unknown): Promise<void> {
    await this.#http.send({ method: "PUT", path, body });
  }

  get<Answer>(path: string): Promise<Answer> {
    return this.#http.send({ method: "GET", path });
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

  /** Waits for the end of so many executions of a workflow. */
  async untilCompleted(workflow: string, total: number, limitMs: number): Promise<void> {
    let completed = 0;
    const isDone = async () => {
      completed = await this.countExecutions(workflow, "COMPLETED");
      return completed >= total;
    };
    const late = () => `${completed} of ${total} ${workflow} completed`;
    await until(isDone, { limitMs, late });
  }

  /** `engine dev` prints its address before its files are registered. */
  async untilRegistered(workflow: string): Promise<void> {
    const isThere = () =>
      this.get(`/workflows/bench/${workflow}`).then(
        () => true,
        () => false,
      );
    await until(isThere, { limitMs: 20_000, late: () => `${workflow} is not registered` });
  }

  close(): void {
    this.#http.close();
  }
}
