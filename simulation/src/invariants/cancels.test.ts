import { expect, test } from "vitest";
import type { Evidence } from "../evidence.ts";
import { cancels } from "./cancels.ts";
import { broken, sampleEvidence } from "./testing/sample-evidence.ts";
import { BEGAN } from "./testing/told.ts";

test("I13 a cancel with its rollback is right", () => {
  expect(cancels(sampleEvidence())).toEqual([]);
});

const begunBehind = (outcome: "TASK_CANCELLED" | "TASK_COMPLETED" | "TASK_FAILED") =>
  broken(({ executions: [, of] }) => {
    const [start, end] = [of?.log[3], of?.log[8]];
    const value = { worker: "w1", generation: 2, reason: "cancel", attempt: 2, score: null };
    if (!of || !start || !end) return;
    const call = { source_id: "plain~1", name: "plain" };
    of.log.splice(8, 0, {
      ...end,
      event: { ...end.event, type: "WORKFLOW_CLAIMED", value, seq: 9 },
    });
    of.log.splice(9, 0, { ...start, event: { ...start.event, ...call, seq: 10 } });
    of.log.splice(10, 0, { ...start, event: { ...start.event, ...call, seq: 11, type: outcome } });
  });

test("I13 a call that begins with who was to unwind comes to nothing, or is found", () => {
  expect(cancels(begunBehind("TASK_CANCELLED"))).toEqual([]);
  // Refused for its input: no function of it was entered.
  expect(cancels(begunBehind("TASK_FAILED"))).toEqual([]);
  expect(cancels(begunBehind("TASK_COMPLETED"))).toMatchObject([
    { execution_id: "e2", message: "plain~1 is begun at event 10, though event 5 cancels it" },
  ]);
});

test("I13 what a kept copy had begun before it heard of the cancel may be recorded behind it", () => {
  const keptAt = BEGAN + 71_000;
  const kept = (enteredAt: number): Evidence => {
    const evidence = begunBehind("TASK_COMPLETED");
    const [, body] = evidence.bodies;
    if (!body) throw new Error("the sample has bodies");
    const entered = { ...body, task_call_id: "plain~1", at: enteredAt };
    const keep = { execution_id: "e2", generation: 2, process: "w1-1", at: keptAt };
    const inVain = { ...entered, process: "w1-0", at: BEGAN + 70_400 };
    return { ...evidence, keeps: [keep], bodies: [...evidence.bodies, inVain, entered] };
  };
  expect(cancels(kept(BEGAN + 70_500))).toEqual([]);
  // The word of the cancel comes in the frame behind the one that says that it is kept.
  expect(cancels(kept(keptAt + 5_000))).toEqual([]);
  expect(cancels(kept(keptAt + 5_001))).toContainEqual(
    expect.objectContaining({ message: expect.stringContaining("is begun at event 10") }),
  );
});

test("I13 who is to unwind runs again what its log shows under way, also behind the cancel, and nothing else", () => {
  const again = (task_call_id: string): Evidence => {
    const evidence = begunBehind("TASK_CANCELLED");
    const [, body] = evidence.bodies;
    const log = evidence.executions[1]?.log ?? [];
    const [start, cancelling] = [log[3]?.event, log[4]?.event];
    if (!body || !start || !cancelling) throw new Error("the sample has them");
    Object.assign(start, { seq: cancelling.seq });
    Object.assign(cancelling, { seq: 4 });
    const entered = { ...body, task_call_id, generation: 2, at: BEGAN + 79_000 };
    return { ...evidence, bodies: [...evidence.bodies, entered] };
  };
  expect(cancels(again("undoable~1"))).toEqual([]);
  expect(cancels(again("plain~1"))).toMatchObject([
    { message: expect.stringContaining("given to it to unwind") },
  ]);
});

test("I13 a function that is entered long after the cancel is found, unless its worker was cut off", () => {
  const late = (isCutOff: boolean) =>
    broken(({ bodies, faults }) => {
      bodies.push({ ...bodies[1], task_call_id: "plain~9", at: BEGAN + 79_000 });
      if (!isCutOff) return;
      const at = BEGAN + 70_500;
      faults.push({ kind: "partition", at, until: at + 8_000, worker: "w1", server: null });
    });
  expect(cancels(late(false))).toMatchObject([
    { message: expect.stringContaining("behind its cancel") },
  ]);
  expect(cancels(late(true))).toEqual([]);
});

test("I13 a rollback that did not run is found, in the log and in the worker", () => {
  const unwritten = broken(({ executions: [, of] }) => void of?.log.splice(5, 2));
  expect(cancels(unwritten)).toMatchObject([
    { message: expect.stringContaining("without its rollback") },
  ]);
  const unrun = broken(({ bodies }) => void bodies.pop());
  expect(cancels(unrun)).toMatchObject([{ message: expect.stringContaining("never ran") }]);
});

test("I13 nobody came to unwind it: then the log says so, and nothing has to have run", () => {
  const evidence = broken(({ executions: [, of], bodies }) => {
    const entry = of?.log[5];
    if (entry) entry.event.type = "WORKFLOW_WARNING";
    if (entry) entry.event.value = { code: "not_unwound" };
    of?.log.splice(6, 1);
    bodies.pop();
  });
  expect(cancels(evidence)).toEqual([]);
});

test("I13 a child that outlived its parent's cancel is found, one that was detached is not", () => {
  const child = (detached: boolean) =>
    broken(({ executions: [of] }) => {
      if (of) [of.row.parent_id, of.row.detached] = ["e2", detached];
    });
  const late = child(false);
  // It had ended before the parent was cancelled; then it had not.
  expect(cancels(late)).toEqual([]);
  const after = { ...late, commits: late.commits.toReversed() };
  expect(cancels(after)).toMatchObject([{ execution_id: "e1" }]);
  expect(cancels({ ...child(true), commits: after.commits })).toEqual([]);
});

test("I13 a cancel that was acknowledged and forgotten is found", () => {
  const evidence = broken(({ requests: [, , , , , cancel] }) => {
    if (cancel?.asked.kind === "cancel") cancel.asked.execution_id = "e1";
  });
  expect(cancels(evidence)).toMatchObject([{ execution_id: "e1" }]);
});

test("I13 a task that was under way may be run again for what is in it, its next attempt may not", () => {
  const again = (attempt: number) =>
    broken(({ bodies }) => {
      bodies.push({ ...bodies[1], attempt, at: BEGAN + 79_000 });
    });
  expect(cancels(again(1))).toEqual([]);
  expect(cancels(again(2))).toHaveLength(1);
});
