import { createClient, type Fetch, type FetchRequest } from "@engine/client";
import { EngineError } from "@engine/contract";
import { expect, test } from "vitest";
import type { AskedRun, RunFrame } from "./service-calls.ts";
import { serviceRequests } from "./service-requests.ts";
import { endpointOf } from "./testing/endpoint.ts";
import { runOf } from "./testing/run.ts";

const endpoint = endpointOf("shop/invoice");
const asked: AskedRun = { kind: "run", endpoint, input: { cents: 5 } };

/** The calls of a service `billing`, over a server that answers each request as told. */
function calls(...answers: readonly (readonly [status: number, body: string, type?: string])[]) {
  const sent: { line: string; headers: FetchRequest["headers"]; body: string | undefined }[] = [];
  const left = answers.slice();
  const fetch: Fetch = async (url, { method, headers, body }) => {
    sent.push({ line: `${method} ${new URL(url).pathname}`, headers, body });
    const [status, text, type = "application/json"] = left.shift() ?? [500, ""];
    return new Response(text, { status, headers: { "content-type": type } });
  };
  const client = createClient({ baseUrl: "http://engine", fetch });
  const list = async () => ({ endpoints: [endpoint] });
  return { sent, calls: serviceRequests({ service: "billing", client, list }) };
}

const frame = (event: string, data: unknown) =>
  `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;

async function all(frames: AsyncIterable<RunFrame>): Promise<RunFrame[]> {
  const read = [];
  for await (const one of frames) read.push(one);
  return read;
}

test("MCP-8 each call is the request of its route: run, resume, status, cancellation", async () => {
  const created = JSON.stringify(runOf({ state: "CREATED" }));
  const t = calls([202, created], [202, created], [202, created], [200, created], [404, "{}"]);
  await t.calls.run(asked);
  await t.calls.run({ ...asked, idempotency_key: "k-1" });
  const resumed = { kind: "resume", endpoint, execution_id: "e-1", input: "yes" } as const;
  expect(await t.calls.resume(resumed)).toMatchObject({ state: "CREATED" });
  await t.calls.status({ endpoint, execution_id: "e-1" });
  await t.calls.cancel({ endpoint, execution_id: "e-1" }).catch(() => undefined);
  expect(t.sent.map(({ line, body }) => [line, body])).toEqual([
    ["POST /services/billing/invoice/async", '{"cents":5}'],
    ["POST /services/billing/invoice/async", '{"cents":5}'],
    ["POST /services/billing/invoice/resume/e-1/async", '"yes"'],
    ["GET /services/billing/invoice/status/e-1", undefined],
    ["POST /workflows/shop/invoice/cancel/e-1", "null"],
  ]);
  expect(t.sent.map(({ headers }) => headers["idempotency-key"])).toEqual([
    ...[undefined, "k-1", undefined, undefined, undefined],
  ]);
});

test("MCP-11 a run that is waited for is followed by its frames, and what is none of them is passed over", async () => {
  const progress = {
    ...{ type: "TASK_PROGRESS", source_id: "a~1", name: "a", time: "2026-01-01T00:00:00Z" },
    value: { progress: 1 },
  };
  const stream =
    frame("invoice.execution.created", runOf({ state: "CREATED" })) +
    frame("task.progress", progress) +
    frame("of.a.newer.server", { a: 1 }) +
    frame("invoice.execution.completed", runOf({ state: "COMPLETED", output: 7 }));
  const t = calls([200, stream, "text/event-stream"]);
  const frames = await all(t.calls.follow(asked, new AbortController().signal));
  expect(frames).toMatchObject([
    { kind: "state", run: { state: "CREATED" } },
    { kind: "progress", value: { progress: 1 } },
    { kind: "state", run: { state: "COMPLETED", output: 7 } },
  ]);
  expect(t.sent[0]?.line).toBe("POST /services/billing/invoice/stream");
});

test("MCP-9 what the engine refuses comes as it refused it, and an answer of another version as a defect", async () => {
  const refused = new EngineError("permission_denied", "no", {
    details: { missing_permissions: ["workflow:shop:invoice:run"] },
  });
  const t = calls([403, JSON.stringify(refused.toBody())], [202, '{"state":"NEW"}']);
  await expect(all(t.calls.follow(asked, new AbortController().signal))).rejects.toMatchObject({
    code: "permission_denied",
    details: { missing_permissions: ["workflow:shop:invoice:run"] },
  });
  await expect(t.calls.run(asked)).rejects.toThrow();
});
