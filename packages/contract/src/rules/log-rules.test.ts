import { expect, test } from "vitest";
import type { EngineError } from "../errors/errors.ts";
import type { ExecutionRow } from "../executions/execution-row.ts";
import type { Event, NewEvent } from "../log/event.ts";
import type { EventType } from "../log/event-values.ts";
import { formatEventTime } from "../values/time.ts";
import type { Encoded } from "../values/value.ts";
import type { Checkpoint } from "../workers/checkpoint.ts";
import type { Append } from "./change.ts";
import { createdExecution, decideClaim, handOver } from "./lifecycle-rules.ts";
import {
  type CheckpointSender,
  type CheckpointVerdict,
  decideCheckpoint,
  decideResume,
  type Resume,
} from "./log-rules.ts";

const mine: CheckpointSender = {
  session: "s1",
  now: 2_000,
  calls: new Map(),
  cancel_timeout_ms: 300_000,
  findKept: () => undefined,
};

/** A row with its log, moved on as a store would. */
class Execution {
  row: ExecutionRow;
  readonly log: Event[] = [];

  constructor() {
    const { row, events } = createdExecution({
      execution_id: "e1",
      namespace: "default",
      workflow: "hello",
      version: 1,
      module_hash: "h",
      input: "World",
      trigger: { kind: "api" },
      by: null,
      seed: "seed",
      now: 1_000,
    });
    this.row = row;
    this.log.push(...events.map((event, i) => ({ ...event, seq: 1 + i })));
  }

  /** Claimed by session s1 and started: head 3, generation 1. */
  static running(): Execution {
    const execution = new Execution();
    const claim = decideClaim(execution.row, { worker: "w1", session: "s1", now: 1_500 });
    execution.apply(claim ?? expect.unreachable("not claimable"));
    execution.send(checkpoint(2, "RUNNING", [event("WORKFLOW_STARTED", "e1")]));
    return execution;
  }

  /** Parked at an open pause, head 6. */
  static paused(): Execution {
    const execution = Execution.running();
    execution.send(checkpoint(3, "PAUSED", pauseEvents("pause~1", "review")));
    return execution;
  }

  decide(item: Checkpoint, sender = mine): CheckpointVerdict {
    return decideCheckpoint(this.row, item, sender, this.log.slice(item.base_seq));
  }

  send(item: Checkpoint, sender = mine): void {
    const verdict = this.decide(item, sender);
    if (verdict.kind !== "append") expect.unreachable(`was ${verdict.kind}`);
    else this.apply(verdict);
  }

  apply({ events, patch }: Append): void {
    for (const sent of events) this.log.push({ ...sent, seq: this.log.length + 1 });
    this.row = { ...this.row, ...patch };
    expect(this.row.head, "head and log agree").toBe(this.log.length);
  }

  resume(resume: Partial<Resume> = {}): Append | EngineError {
    return decideResume(this.row, { input: null, by: null, now: 3_000, ...resume });
  }
}

let time = 1_600;
function event(type: EventType, source_id: string, value: Encoded = null): NewEvent {
  time += 1;
  return {
    type,
    source_id,
    name: "step",
    kind: null,
    value,
    time: formatEventTime(time),
    meta: null,
  };
}

function pauseEvents(call: string, name: string): NewEvent[] {
  return [
    event("TASK_STARTED", call),
    event("TASK_PAUSED", call, { name, output: { ask: 1 } }),
    event("WORKFLOW_PAUSED", "e1", { name, output: { ask: 1 } }),
  ];
}

function checkpoint(base_seq: number, state: Checkpoint["state"], events: NewEvent[]): Checkpoint {
  return { generation: 1, base_seq, state, events };
}

function refusal(verdict: CheckpointVerdict): EngineError {
  return verdict.kind === "refuse" ? verdict.error : expect.unreachable(`was ${verdict.kind}`);
}

test("CKP-1 a delta at the head is appended and the row follows its events", () => {
  const execution = Execution.running();
  expect(execution.row).toMatchObject({ state: "RUNNING", head: 3, started_at: 2_000 });
  execution.send(
    checkpoint(3, "COMPLETED", [
      event("TASK_STARTED", "step~1"),
      event("TASK_COMPLETED", "step~1", 5),
      event("WORKFLOW_COMPLETED", "e1", { total: 5 }),
    ]),
  );
  expect(execution.row).toMatchObject({
    state: "COMPLETED",
    head: 6,
    output: { total: 5 },
    failure: null,
    finished_at: 2_000,
    worker: null,
    session: null,
    last_worker: "w1",
    last_session: "s1",
  });
});

test("CKP-1 a state that does not follow from the events is refused, whichever side is wrong", () => {
  const execution = Execution.running();
  const started = event("TASK_STARTED", "step~1");
  for (const state of ["PAUSED", "COMPLETED", "CREATED"] as const) {
    expect(refusal(execution.decide(checkpoint(3, state, [started]))).code).toBe("invalid_input");
  }
  const twice = [event("WORKFLOW_STARTED", "e1")];
  expect(refusal(execution.decide(checkpoint(3, "RUNNING", twice))).code).toBe("invalid_input");
});

test("CKP-1 a worker cannot bring about the states that belong to the server", () => {
  const running = Execution.running();
  const resuming = checkpoint(3, "RESUMING", [event("WORKFLOW_RESUMING", "e1")]);
  expect(refusal(running.decide(resuming)).code).toBe("invalid_input");

  const claimed = new Execution();
  claimed.apply(
    decideClaim(claimed.row, { worker: "w1", session: "s1", now: 1_500 }) ??
      expect.unreachable("not claimable"),
  );
  const early = checkpoint(2, "CLAIMED", [event("TASK_STARTED", "step~1")]);
  expect(refusal(claimed.decide(early)).code).toBe("invalid_input");
});

test("EXE-35 a failed body leaves its failure on the row", () => {
  const execution = Execution.running();
  const failure = { type: "Error", message: "no" };
  execution.send(checkpoint(3, "FAILED", [event("WORKFLOW_FAILED", "e1", failure)]));
  expect(execution.row).toMatchObject({ state: "FAILED", failure, output: null });
});

test("CKP-2 only the owner at its generation may write", () => {
  const execution = Execution.running();
  const item = checkpoint(3, "RUNNING", [event("TASK_STARTED", "step~1")]);
  const stranger = refusal(execution.decide(item, { ...mine, session: "s2" }));
  expect(stranger).toMatchObject({
    code: "stale_claim",
    details: { state: "RUNNING", generation: 1 },
  });
  expect(refusal(execution.decide({ ...item, generation: 2 })).code).toBe("stale_claim");
});

test("LIV-4 a hand-over fences the old owner at once, also for a delta beyond the head", () => {
  const execution = Execution.running();
  execution.row = {
    ...execution.row,
    ...handOver(execution.row, { now: 2_500, cancel_timeout_ms: 300_000 }).patch,
  };
  const item = checkpoint(3, "RUNNING", [event("TASK_STARTED", "step~1")]);
  expect(refusal(execution.decide(item)).code).toBe("stale_claim");
  expect(refusal(execution.decide({ ...item, base_seq: 9 })).code).toBe("stale_claim");
});

test("CKP-3 an exact repeat writes nothing, while it runs and after it ended", () => {
  const execution = Execution.running();
  const first = checkpoint(3, "RUNNING", [event("TASK_STARTED", "step~1")]);
  execution.send(first);
  expect(execution.decide(first)).toEqual({ kind: "repeat", seq: 4 });
  const last = checkpoint(4, "COMPLETED", [
    event("TASK_COMPLETED", "step~1"),
    event("WORKFLOW_COMPLETED", "e1"),
  ]);
  execution.send(last);
  expect(execution.decide(last)).toEqual({ kind: "repeat", seq: 6 });
  expect(refusal(execution.decide(last, { ...mine, session: "s2" })).code).toBe("stale_claim");
});

test("EXE-18 what an ended execution does not hold already is refused, never answered as done", () => {
  const execution = Execution.running();
  execution.send(checkpoint(3, "COMPLETED", [event("WORKFLOW_COMPLETED", "e1")]));
  const more = checkpoint(4, "RUNNING", [event("TASK_STARTED", "late~1")]);
  expect(refusal(execution.decide(more)).code).toBe("stale_claim");
});

test("CKP-3 a leading part that is recorded is skipped and the rest appended", () => {
  const execution = Execution.running();
  const started = event("TASK_STARTED", "step~1");
  execution.send(checkpoint(3, "RUNNING", [started]));
  const completed = event("TASK_COMPLETED", "step~1");
  const verdict = execution.decide(checkpoint(3, "RUNNING", [started, completed]));
  expect(verdict).toMatchObject({ kind: "append", events: [completed], patch: { head: 5 } });
});

test("CKP-3 what the server wrote in between is a conflict that shows it", () => {
  const execution = Execution.running();
  execution.send(checkpoint(3, "RUNNING", pauseEvents("pause~1", "review").slice(0, 2)));
  const resumed = execution.resume();
  execution.apply(resumed as Append);
  const sent = checkpoint(5, "PAUSED", [event("WORKFLOW_PAUSED", "e1")]);
  const error = refusal(execution.decide(sent));
  expect(error.code).toBe("seq_conflict");
  expect(error.details).toEqual({ head: 7, acknowledged: 5, events: execution.log.slice(5) });
  expect(execution.log.slice(5).map((e) => e.type)).toEqual(["TASK_RESUMED", "TASK_COMPLETED"]);
});

test("CKP-3 a delta beyond the head is a gap that names the head", () => {
  const execution = Execution.running();
  const error = refusal(execution.decide(checkpoint(8, "RUNNING", [event("TASK_STARTED", "a~1")])));
  expect(error).toMatchObject({ code: "seq_gap", details: { head: 3 } });
});

test("CKP-6 a pause, a park and an end free the slot; a running delta keeps the owner", () => {
  expect(Execution.paused().row).toMatchObject({ state: "PAUSED", session: null, worker: null });
  const running = Execution.running();
  running.send(checkpoint(3, "RUNNING", [event("TASK_STARTED", "sleep~1")]));
  expect(running.row.session).toBe("s1");
  const waiting = [{ kind: "sleep" as const, task_call_id: "sleep~1", name: "sleep" }];
  running.send({ ...checkpoint(4, "RUNNING", []), waiting });
  expect(running.row).toMatchObject({ state: "RUNNING", session: null, last_session: "s1" });
});

test("EXE-78 an open pause is on the row with what it shows, and leaves with its outcome", () => {
  const execution = Execution.paused();
  expect(execution.row.waits).toEqual([
    {
      kind: "pause",
      task_call_id: "pause~1",
      name: "review",
      output: { ask: 1 },
      since: expect.any(Number),
    },
  ]);
  execution.apply(execution.resume() as Append);
  expect(execution.row.waits).toEqual([]);
});

test("EXE-52 a resume answers the open pause; the execution queues again", () => {
  const execution = Execution.paused();
  const { events } = execution.resume({ input: { ok: true }, by: "ada" }) as Append;
  expect(events.map(({ type, source_id, value }) => [type, source_id, value])).toEqual([
    ["TASK_RESUMED", "pause~1", { name: "review", input: { ok: true }, cause: "resume" }],
    ["TASK_COMPLETED", "pause~1", { ok: true }],
    ["WORKFLOW_RESUMING", "e1", { ok: true }],
  ]);
  expect(events[2]?.meta).toEqual({ cause: "resume", task_call_id: "pause~1", by: "ada" });
  execution.apply(execution.resume() as Append);
  expect(execution.row).toMatchObject({
    state: "RESUMING",
    resuming: true,
    queued_at: 3_000,
    session: null,
  });
});

test("EXE-19 a resume while it still runs is recorded without a change of state", () => {
  const execution = Execution.running();
  execution.send(checkpoint(3, "RUNNING", pauseEvents("pause~1", "review").slice(0, 2)));
  const { events, patch } = execution.resume() as Append;
  expect(events.map((e) => e.type)).toEqual(["TASK_RESUMED", "TASK_COMPLETED"]);
  expect(patch.state).toBe("RUNNING");
});

test("EXE-23 an event is never older than the one before it, whatever the server's clock says", () => {
  const execution = Execution.paused();
  const { events } = execution.resume({ now: 0 }) as Append;
  expect(events.map((e) => e.time)).toEqual(
    Array(3).fill(formatEventTime(execution.row.last_time)),
  );
});

test("EXE-52 of two racing resumes the second is refused", () => {
  const execution = Execution.paused();
  execution.apply(execution.resume() as Append);
  expect(execution.resume()).toMatchObject({
    code: "not_paused",
    details: { state: "RESUMING", pauses: [] },
  });
});

test("EXE-52 several open pauses need a name: that of the pause or its call id", () => {
  const execution = Execution.running();
  execution.send(
    checkpoint(3, "PAUSED", [
      ...pauseEvents("pause~1", "review").slice(0, 2),
      ...pauseEvents("pause~2", "budget"),
    ]),
  );
  expect(execution.resume()).toMatchObject({
    code: "ambiguous_pause",
    details: {
      pauses: [
        { name: "review", task_call_id: "pause~1" },
        { name: "budget", task_call_id: "pause~2" },
      ],
    },
  });
  for (const pause of ["budget", "pause~2"]) {
    const { events } = execution.resume({ pause }) as Append;
    expect(events[0]?.source_id).toBe("pause~2");
  }
  expect(execution.resume({ pause: "other" })).toMatchObject({ code: "not_paused" });
});

test("EXE-82 a resume of what runs without a pause, is being cancelled or has ended is refused", () => {
  const running = Execution.running();
  expect(running.resume()).toMatchObject({ code: "not_paused", details: { state: "RUNNING" } });

  const cancelling = Execution.paused();
  cancelling.row = { ...cancelling.row, state: "CANCELLING" };
  expect(cancelling.resume()).toMatchObject({ code: "not_paused" });

  running.send(checkpoint(3, "COMPLETED", [event("WORKFLOW_COMPLETED", "e1")]));
  expect(running.resume()).toMatchObject({
    code: "execution_finished",
    details: { state: "COMPLETED" },
  });
});
