import type { ExecutionRecord } from "@engine/contract";
import { type Client, createClient } from "../client.ts";
import type { FetchRequest, FetchResponse } from "../transport.ts";
import { ManualTiming } from "./manual-timing.ts";

interface Sent {
  readonly call: string;
  readonly headers: Record<string, string>;
  readonly body: unknown;
}

export type Reply = (
  request: FetchRequest,
  timing: ManualTiming,
) => FetchResponse | Promise<FetchResponse>;

export interface ScriptedEngine {
  readonly client: Client;
  readonly timing: ManualTiming;
  /** What was sent, as `<method> <path and query>`. */
  readonly sent: readonly Sent[];
}

/** A client whose server gives the written replies, in order, and nothing more. */
export function scriptedEngine(...replies: Reply[]): ScriptedEngine {
  const timing = new ManualTiming();
  const sent: Sent[] = [];
  const script = replies.values();
  const client = createClient({
    baseUrl: "http://engine.test",
    timing,
    fetch: async (url, request) => {
      const { method, headers, body } = request;
      const call = `${method} ${url.replace("http://engine.test", "")}`;
      sent.push({ call, headers, body: body === undefined ? undefined : JSON.parse(body) });
      // A refusal, since a client would try again after anything else.
      const { value: reply = refused(400, `the script has no reply to ${call}`) } = script.next();
      return reply(request, timing);
    },
  });
  return { client, timing, sent };
}

const FACTS = {
  execution_id: "e1",
  namespace: "shop",
  workflow: "checkout",
  version: 1,
  name: null,
  input: null,
  output: null,
  error: null,
  pause: null,
  worker: null,
  generation: 1,
  priority: 0,
  parent_id: null,
  parent_call_id: null,
  schedule: null,
  forked_from: null,
  started_by: null,
  run_as: null,
  created_at: "2026-01-01T00:00:00.000Z",
  started_at: null,
  finished_at: null,
  updated_at: "2026-01-01T00:00:00.000Z",
  waiting: [],
  status_url: "/workflows/shop/checkout/status/e1",
} satisfies Omit<ExecutionRecord, "state">;

const failed: ExecutionRecord = {
  ...FACTS,
  state: "FAILED",
  error: {
    code: "workflow_failed",
    message: "no funds",
    details: {
      type: "CardDeclined",
      code: null,
      retryable: false,
      details: { card: "x" },
      cause: null,
      attempts: 3,
      task_call_id: "charge~1",
    },
  },
};
const cancelled: ExecutionRecord = {
  ...FACTS,
  state: "CANCELLED",
  error: { code: "workflow_cancelled", message: "changed their mind", details: null },
};

/** Answers as EXE-81 has them. */
export const replies: {
  running: Reply;
  completed: (output: ExecutionRecord["output"]) => Reply;
  failed: Reply;
  cancelled: Reply;
  paused: (kind?: "input" | "approval") => Reply;
  broken: Reply;
  refused: (status: number, code: string) => Reply;
  json: (status: number, body: unknown) => Reply;
} = {
  running: json(202, { ...FACTS, state: "RUNNING" }),
  completed: (output) => json(200, { ...FACTS, state: "COMPLETED", output }),
  failed: json(500, failed),
  cancelled: json(409, cancelled),
  paused: (kind = "input") =>
    json(202, {
      ...FACTS,
      state: "PAUSED",
      pause: {
        name: "review",
        kind,
        value: "is it right?",
        task_call_id: "review~1",
        paused_at: "2026-01-01T00:00:01.000Z",
      },
      resume_url: "/workflows/shop/checkout/resume/e1",
    }),
  broken: () => {
    throw new TypeError("fetch failed", { cause: new Error("ECONNRESET") });
  },
  refused: (status, code) => refused(status, `it is ${code}`, code),
  json,
};

function json(status: number, body: unknown): Reply {
  return () => new Response(JSON.stringify(body), { status });
}

function refused(status: number, message: string, code = "bad_request"): Reply {
  return json(status, { error: { code, message } });
}
