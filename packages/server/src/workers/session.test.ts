import { createdExecution, type ExecutionRow, type WorkerFrame } from "@engine/contract";
import { expect, test } from "vitest";
import { assignmentOf } from "../dispatch/assignment.ts";
import { registration } from "../testing/scripted-worker.ts";
import { Session } from "./session.ts";
import { WorkerStream } from "./worker-stream.ts";

function session(): Session {
  const { name: worker, protocol: _, ...said } = registration("w");
  const held = { said: null, replica: "r", epoch: 1, connected_at: 0, disconnected_at: null };
  const times = {
    credential_line: null,
    created_at: 0,
    last_seen_at: 0,
    ended_at: null,
    end_reason: null,
    lost_at: null,
  };
  const ids = { worker, session_id: "s", token_hash: "t", dispatch: "event" as const };
  return new Session({ ...said, ...ids, ...times, ...held }, () => 0);
}

function owned(generation: number): ExecutionRow {
  const { row } = createdExecution({
    execution_id: "x",
    namespace: "default",
    workflow: "hello",
    version: 1,
    module_hash: "m",
    input: null,
    trigger: { kind: "api" },
    by: null,
    seed: "seed",
    now: 0,
  });
  return { ...row, generation };
}

function assign(row: ExecutionRow): Extract<WorkerFrame, { event: "assign" }> {
  const data = assignmentOf(row, {
    reason: "start",
    module: { hash: "m", bytes: 1 },
    history: { after: 0, events: [] },
    listen: false,
  });
  return { event: "assign", data };
}

const listen: WorkerFrame = { event: "listen", data: { execution_id: "x", on: true } };
const welcome: WorkerFrame = {
  event: "welcome",
  data: { replica: "r", server_time: "2026-01-01T00:00:00.000Z", services: [], keep: [], drop: [] },
};

function connected(of: Session): string[] {
  const heard: string[] = [];
  const stream = new WorkerStream(
    ({ event }) => heard.push(event),
    () => {},
  );
  of.connect(stream, of.row);
  stream.open([]);
  return heard;
}

test("what is told of an execution never overtakes its assignment", () => {
  const worker = session();
  const heard = connected(worker);
  worker.holdings.own(owned(1), 0);
  worker.holdings.tell("x", listen);
  expect(heard).toEqual([]);
  worker.holdings.assign(assign(owned(1)));
  worker.holdings.tell("x", listen);
  expect(heard).toEqual(["assign", "listen", "listen"]);
});

test("an assignment that was overtaken by a hand-over is not sent", () => {
  const worker = session();
  const heard = connected(worker);
  worker.holdings.own(owned(1), 0);
  worker.holdings.disown(owned(1));
  worker.holdings.assign(assign(owned(1)));
  worker.holdings.own(owned(2), 0);
  worker.holdings.assign(assign(owned(1)));
  worker.holdings.disown(owned(1));
  expect(heard).toEqual([]);
  expect(worker.holdings.owns(owned(2))).toBe(true);
});

test("the welcome is the first frame, whatever was sent before it", () => {
  const heard: string[] = [];
  const stream = new WorkerStream(
    ({ event }) => heard.push(event),
    () => {},
  );
  stream.send(listen);
  stream.open([welcome]);
  expect(heard).toEqual(["welcome", "listen"]);
});

test("a reader that throws ends the stream", async () => {
  const causes: unknown[] = [];
  const broken = new Error("full");
  const stream = new WorkerStream(
    () => {
      throw broken;
    },
    (_, cause) => causes.push(cause),
  );
  stream.open([welcome]);
  await stream.closed;
  expect(causes).toEqual([broken]);
});
