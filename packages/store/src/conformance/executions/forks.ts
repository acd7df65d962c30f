import { type CallResolutions, encode, type NewExecution } from "@engine/contract";
import { expect, test } from "vitest";
import { type Open, opened } from "../opened.ts";
import { claimant, event, executionId, newExecution } from "../sample.ts";
import { CALL, callStart } from "./family.ts";

const NO_CALLS: CallResolutions = new Map();

export function forkConformance(open: Open): void {
  test("EXE-87 I3 a fork has the copied log behind its first event, to be read by pages", async () => {
    const store = await opened(open);
    const { row, events } = await store.executions.create(fork(2, 10_000));
    expect(row).toMatchObject({ state: "RESUMING", head: 10_002, resuming: true });
    expect(row.forked_from).toEqual({ execution_id: executionId(1), seq: 10_001 });
    const seqs = Array.from({ length: 10_002 }, (_, i) => i + 1);
    expect(events.map(({ seq }) => seq)).toEqual(seqs);
    expect(events.at(0)?.type).toBe("WORKFLOW_CREATED");
    expect(events.at(-1)).toMatchObject({ type: "WORKFLOW_RESUMING", meta: { cause: "fork" } });
    expect(await store.executions.find(executionId(2))).toEqual(row);
    const page = async (of?: Parameters<typeof store.log.read>[1]) =>
      (await store.log.read(executionId(2), of)).map((line) => line.event);
    expect(await page()).toEqual(events);
    for (const at of [0, 7, 998, 999, 1_000, 1_001, 5_500, 9_990, 10_001, 10_002]) {
      expect(await page({ after: at, limit: 30 })).toEqual(events.slice(at, at + 30));
      expect(await page({ after: at, before: at + 5 })).toEqual(events.slice(at, at + 4));
      expect(await page({ before: at + 1, limit: 30 })).toEqual(
        events.slice(Math.max(at - 30, 0), at),
      );
    }
    expect(await page({ limit: 2_500 })).toEqual(events.slice(-2_500));
  });

  test("a fork is created, claimed and followed by a new child in one commit", async () => {
    const store = await opened(open);
    const forked = await store.executions.create(callingFork(), claimant);
    expect(forked.events.map(({ type }) => type)).toEqual([
      "WORKFLOW_CREATED",
      "WORKFLOW_STARTED",
      "TASK_STARTED",
      "WORKFLOW_RESUMING",
      "WORKFLOW_CLAIMED",
    ]);
    expect(forked.row.waits).toMatchObject([{ kind: "child", execution_id: executionId(3) }]);
    expect(forked.others).toMatchObject([{ row: { parent_id: executionId(2) } }]);
    expect(await store.executions.find(executionId(2))).toEqual(forked.row);
    expect(await store.executions.find(executionId(3))).toEqual(forked.others[0]?.row);
  });

  test("a fork that is the effect of another change has its own effects", async () => {
    const store = await opened(open);
    await store.executions.create(newExecution(1));
    const changed = await store.executions.change(executionId(1), () => ({
      events: [],
      patch: {},
      effects: [{ kind: "create", fresh: callingFork() }],
    }));
    expect(changed.others.map(({ row }) => [row.execution_id, row.head])).toEqual([
      [executionId(2), 4],
      [executionId(3), 1],
    ]);
    expect(await store.log.read(executionId(2))).toHaveLength(4);
    expect(await store.executions.find(executionId(3))).toEqual(changed.others[1]?.row);
  });
}

/** Execution 2, forked where a call was open: execution 3 is its new child. */
function callingFork(): NewExecution {
  const parent = { execution_id: executionId(2), depth: 0, call_id: CALL, detached: false };
  const child = { kind: "child", fresh: newExecution(3, { parent }) } as const;
  const from = { execution_id: executionId(1), seq: 3 };
  const history = [event("WORKFLOW_STARTED", executionId(1)), callStart(false)];
  return newExecution(2, { fork: { from, history, calls: new Map([[CALL, child]]) } });
}

function fork(n: number, copied: number): NewExecution {
  const history = Array.from({ length: copied }, (_, i) =>
    i === 0
      ? event("WORKFLOW_STARTED", executionId(1))
      : event(i % 2 ? "TASK_STARTED" : "TASK_COMPLETED", `a~${i}`, encode({ i }, "value")),
  );
  const from = { execution_id: executionId(1), seq: copied + 1 };
  return newExecution(n, { fork: { from, history, calls: NO_CALLS } });
}
