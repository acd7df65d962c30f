import { type ExecutionRecord, isTerminal } from "@engine/contract";
import type { Http } from "../harness/http.ts";
import { mcpCall } from "../harness/mcp.ts";
import { until } from "../harness/until.ts";
import type { Ledger } from "./ledger.ts";
import { ask, PATIENCE_MS } from "./patient.ts";
import type { Credentials } from "./plant.ts";

interface ToolResult {
  readonly structuredContent: {
    readonly execution_id?: string;
    readonly error?: { readonly code: string };
  };
}

interface Answered {
  readonly result?: ToolResult;
}

/** Where the strands of one workload work: a server that may die under them at any moment. */
export class Site {
  readonly http: Http;
  readonly ledger: Ledger;
  /** Where bodies write their lines. */
  readonly file: string;
  /** Tells this workload from every other one. */
  readonly number: number;
  /** With authorization on. */
  readonly credentials: Credentials | undefined;
  #keys = 0;

  constructor(parts: Pick<Site, "http" | "ledger" | "file" | "number" | "credentials">) {
    this.http = parts.http;
    this.ledger = parts.ledger;
    this.file = parts.file;
    this.number = parts.number;
    this.credentials = parts.credentials;
  }

  /** What it names begins with this. */
  get prefix(): string {
    return `w${this.number}`;
  }

  /** Starts once, however often that takes, and then asks again under the same key (I1). */
  async start(workflow: string, value: number, how = "run/async"): Promise<string> {
    const key = `${this.prefix}-${++this.#keys}`;
    const path = how === "" ? `/${workflow}` : `/workflows/default/${workflow}/${how}`;
    return this.startAt(path, { value, key });
  }

  async startAt(
    path: string,
    { value, key }: { readonly value: number; readonly key: string },
  ): Promise<string> {
    this.ledger.keys++;
    const asked = {
      method: "POST",
      body: { file: this.file, value },
      headers: { "idempotency-key": key },
    } as const;
    const first = await ask<ExecutionRecord>(this.http, path, asked);
    const { execution_id } = first.body;
    if (first.status >= 300 || !execution_id) {
      throw new Error(`${path} was refused: ${first.status} ${JSON.stringify(first.body)}`);
    }
    const again = await ask<ExecutionRecord>(this.http, path, asked);
    this.#same(`${path}: key ${key}`, execution_id, again.body.execution_id);
    return execution_id;
  }

  /** The same by a tool of MCP, which is told of the key in its own way (MCP-8). */
  async startByTool(
    path: string,
    { tool, value, key }: { readonly tool: string; readonly value: number; readonly key: string },
  ): Promise<string> {
    this.ledger.keys++;
    const given = { file: this.file, value };
    const asked = mcpCall({ name: tool, given, meta: { "engine/idempotency_key": key } });
    const call = async () => {
      let result: ToolResult | undefined;
      await until(`${tool} is called`, async () => {
        const { status, body } = await ask<Answered>(this.http, path, { method: "POST", ...asked });
        result = body.result;
        if (!result) throw new Error(`${tool} was refused: ${status} ${JSON.stringify(body)}`);
        // What the protocol carries is no answer yet where the engine was not there for it.
        return result.structuredContent.error?.code !== "unavailable";
      });
      const { execution_id } = (result as ToolResult).structuredContent;
      if (execution_id === undefined) throw new Error(`${tool}: ${JSON.stringify(result)}`);
      return execution_id;
    };
    const execution_id = await call();
    this.#same(`${tool}: key ${key}`, execution_id, await call());
    return execution_id;
  }

  #same(what: string, first: string, then: string): void {
    if (first !== then) this.ledger.wrong(`${what} gave ${first}, then ${then}`);
  }

  /** The first record that is so. */
  async until(
    execution_id: string,
    what: string,
    holds: (record: ExecutionRecord) => boolean,
  ): Promise<ExecutionRecord> {
    let found: ExecutionRecord | undefined;
    const isSo = async () => {
      const { body } = await ask<ExecutionRecord>(this.http, `/executions/${execution_id}`);
      found = body;
      return holds(found);
    };
    await until(`${execution_id} ${what}`, isSo, PATIENCE_MS).catch((error: Error) => {
      throw new Error(`${error.message}: ${JSON.stringify(found)}`, { cause: error });
    });
    return found as ExecutionRecord;
  }

  untilWaiting(execution_id: string, kind: string): Promise<ExecutionRecord> {
    return this.until(execution_id, `waits for a ${kind}`, ({ state, waiting }) => {
      return isTerminal(state) || waiting.some((wait) => wait.kind === kind);
    });
  }

  untilEnded(execution_id: string): Promise<ExecutionRecord> {
    return this.until(execution_id, "has ended", ({ state }) => isTerminal(state));
  }

  /** Sends one that counts each time it arrives; who was not answered does not know whether it did. */
  async signal(execution_id: string, payload: number): Promise<void> {
    const path = `/executions/${execution_id}/signals/letter`;
    const { status, tries } = await ask(this.http, path, { method: "POST", body: payload });
    this.ledger.countSignals(execution_id, { tried: tries, acknowledged: status === 202 ? 1 : 0 });
  }
}
