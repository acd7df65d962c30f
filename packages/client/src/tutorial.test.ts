// The code of docs/client.md. Each test gives its snippets what comes before them on the page.
import { expect, test } from "vitest";
import { replies, scriptedEngine } from "./testing/scripted-engine.ts";
import {
  ResultTimeoutError,
  WorkflowCancelledError,
  WorkflowFailedError,
  WorkflowPausedError,
} from "./workflow-errors.ts";

const { completed, failed, json, paused, running } = replies;

interface Claim {
  readonly employee: string;
  readonly cents: number;
  readonly reason: string;
}
/** Stands for the workflow of examples/src/pause-and-resume.ts, which is the SDK's. */
declare const expenseClaim: {
  readonly "~input"?: Claim;
  readonly "~output"?: { readonly paid: boolean; readonly by: string };
};

const claim: Claim = { employee: "ada", cents: 4250, reason: "train to Porto" };
const settled = { paid: true, by: "grace" };

function claimsOf(...script: Parameters<typeof scriptedEngine>) {
  const engine = scriptedEngine(...script);
  const claims = engine.client.workflow<typeof expenseClaim>("examples/expense_claim");
  return { ...engine, claims };
}

test("EXE-90 the tutorial runs a workflow", async () => {
  const { client } = scriptedEngine(running, completed(settled));
  //#region run
  const claims = client.workflow<typeof expenseClaim>("examples/expense_claim");

  const claim = { employee: "ada", cents: 4250, reason: "train to Porto" };
  const { paid, by } = await claims.run(claim, { throughPauses: true });
  //#endregion
  expect([paid, by]).toEqual([true, "grace"]);
});

test("EXE-90 the tutorial starts a workflow and comes back to it", async () => {
  const { claims, sent } = claimsOf(running, completed(settled));
  const database: string[] = [];
  const save = async (id: string) => void database.push(id);
  //#region start
  const handle = await claims.start(claim, { idempotencyKey: "claim-2026-17" });
  await save(handle.executionId);
  //#endregion
  const [saved = ""] = database;
  //#region get
  const outcome = await claims.get(saved).result({ timeout: "10m" });
  //#endregion
  expect(outcome).toEqual(settled);
  expect(sent[0]?.headers["idempotency-key"]).toBe("claim-2026-17");
  expect(sent[1]?.call).toBe("GET /executions/e1?mode=sync&timeout=30");
});

test("EXE-90 the tutorial tells the ends of a workflow apart", async () => {
  const { claims } = claimsOf(running, failed);
  async function attempt(): Promise<string> {
    //#region errors
    try {
      const { paid } = await claims.run(claim, { timeout: "1h" });
      return paid ? "paid" : "refused";
    } catch (error) {
      if (error instanceof WorkflowFailedError) return `failed: ${error.failure.message}`;
      if (error instanceof WorkflowCancelledError) return "cancelled";
      if (error instanceof WorkflowPausedError) return `waits for ${error.pause.name}`;
      if (error instanceof ResultTimeoutError) return `goes on as ${error.executionId}`;
      throw error; // The engine refused it, or could not be reached for the start.
    }
    //#endregion
  }
  expect(await attempt()).toBe("failed: no funds");
});

test("EXE-90 the tutorial answers a pause", async () => {
  const { claims, sent } = claimsOf(paused(), running, completed(settled));
  const handle = claims.get("e1");
  const ask = async (question: unknown) => question === "is it right?";
  //#region resume
  try {
    await handle.result();
  } catch (error) {
    if (!(error instanceof WorkflowPausedError)) throw error;
    const approved = await ask(error.pause.value);
    await handle.resume({ approved, by: "grace" });
  }
  const { paid } = await handle.result();
  //#endregion
  expect(paid).toBe(true);
  expect(sent[1]?.body).toEqual({ approved: true, by: "grace" });
});

test("EXE-90 the tutorial sends a signal, cancels and watches", async () => {
  const receipt = { execution_id: "e1", name: "receipt_uploaded", seq: 7 };
  const frame = 'event: expense_claim.execution.cancelled\nid: 9\ndata: {"state":"CANCELLED"}\n\n';
  const headers = { "content-type": "text/event-stream" };
  const stream = () => new Response(frame, { headers });
  const { claims, sent } = claimsOf(json(202, receipt), running, stream);
  const handle = claims.get("e1");
  const seen: unknown[] = [];
  const show = (...parts: unknown[]) => void seen.push(...parts);
  //#region control
  await handle.signal("receipt_uploaded", { file: "porto.pdf" });
  await handle.cancel({ reason: "sent in twice" });
  //#endregion
  //#region watch
  for await (const { event, data } of await handle.stream()) show(event, data);
  //#endregion
  expect(seen).toEqual(["expense_claim.execution.cancelled", { state: "CANCELLED" }]);
  expect(sent.map(({ body }) => body)).toEqual([
    { file: "porto.pdf" },
    { reason: "sent in twice" },
    undefined,
  ]);
});

test("EXE-92 EXE-93 the tutorial goes on with a stream where it was", async () => {
  const frame = 'event: event\nid: 8\ndata: {"type":"TASK_STARTED"}\n\n';
  const headers = { "content-type": "text/event-stream" };
  const { client, sent } = scriptedEngine(() => new Response(frame, { headers }));
  const handle = client.workflow("examples/expense_claim").get("e1");
  const lastId = 7;
  //#region follow
  const frames = await client.executions.get.stream({
    params: { id: handle.executionId },
    query: { mode: "stream", events: "all" },
    headers: { "last-event-id": lastId },
  });
  //#endregion
  const seen: unknown[] = [];
  for await (const { event, id } of frames) seen.push([event, id]);
  expect(seen).toEqual([["event", 8]]);
  expect(sent[0]).toMatchObject({
    call: "GET /executions/e1?mode=stream&events=all",
    headers: { "last-event-id": "7" },
  });
});

test("EXE-90 the tutorial calls any other route", async () => {
  const { client } = scriptedEngine(
    json(200, { items: [], total: 3, limit: 50, offset: 0, auth_filtered: false }),
  );
  //#region routes
  const { total } = await client.executions.list({
    query: { namespace: "examples", state: ["PAUSED"] },
  });
  //#endregion
  expect(total).toBe(3);
});
