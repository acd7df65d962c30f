import { expect, test } from "vitest";
import { event, MemoryRows, opens } from "../testing/memory-rows.ts";
import { formatInstant } from "../values/time.ts";
import { encode } from "../values/value.ts";
import { patchOf, wakeAt } from "./row-patch.ts";

test("EXE-22 which waits are open is read off the events that open them", () => {
  const rows = new MemoryRows();
  const until = formatInstant(50_000);
  const { waits } = patchOf(
    rows.running(),
    [
      ...opens.pause("pause~1", "review", {
        output: encode(new Set([1]), "output"),
        on_complete: "e9",
      }),
      ...opens.sleep("sleep~1", until),
      ...opens.sleep("sleep~2", until, { meta: { inline: true } }),
      ...opens.signal("signal~1", "paid", until),
      ...opens.signal("signal~2", "sent"),
      ...opens.call("call~1"),
      event("TASK_STARTED", "step~1"),
    ],
    20_000,
  );
  expect(waits).toMatchObject([
    { kind: "pause", task_call_id: "pause~1", name: "review", execution_id: "e9" },
    { kind: "sleep", task_call_id: "sleep~1", name: "sleep", until: 50_000 },
    { kind: "signal", task_call_id: "signal~1", name: "paid", until: 50_000 },
    { kind: "signal", task_call_id: "signal~2", name: "sent" },
    { kind: "child", task_call_id: "call~1", name: "shop/ship" },
  ]);
});

test("EXE-24 an outcome of whatever kind closes its wait and no other", () => {
  for (const type of ["TASK_COMPLETED", "TASK_FAILED", "TASK_CANCELLED"] as const) {
    const rows = new MemoryRows();
    const begun = [...opens.signal("signal~1", "a"), ...opens.signal("signal~2", "a")];
    const { waits } = patchOf(rows.running(), [...begun, event(type, "signal~1")], 20_000);
    expect(
      waits?.map((w) => w.task_call_id),
      type,
    ).toEqual(["signal~2"]);
  }
});

test("EXE-87 a pause is open until its outcome: a log cut in between can still be resumed", () => {
  const rows = new MemoryRows();
  const cut = [...opens.pause("pause~1", "p"), event("TASK_RESUMED", "pause~1")];
  expect(patchOf(rows.running(), cut, 20_000).waits).toHaveLength(1);
});

test("EXE-22 the instants on the row are those of the change, the newest event's is kept beside", () => {
  const rows = new MemoryRows();
  const row = rows.running();
  const ended = event("WORKFLOW_COMPLETED", "e1", { total: 5 });
  expect(patchOf(row, [ended], 77_000)).toMatchObject({
    state: "COMPLETED",
    output: { total: 5 },
    started_at: row.started_at,
    finished_at: 77_000,
    updated_at: 77_000,
    head: 4,
  });
});

test("EXE-22 wake_at is the earliest instant anything is due, null when nothing is", () => {
  const rows = new MemoryRows();
  const row = rows.running();
  expect(wakeAt(row)).toBeNull();
  const waits = [
    ...opens.sleep("sleep~1", formatInstant(60_000)),
    ...opens.sleep("sleep~2", formatInstant(50_000)),
  ];
  const running = { ...row, ...patchOf(row, waits, 20_000) };
  expect(wakeAt(running), "whoever runs it times its waits").toBeNull();
  expect(wakeAt({ ...running, timeout_ms: 1_000, started_at: 30_000 })).toBe(31_000);
  const waiting = { ...running, session: null };
  expect(wakeAt(waiting)).toBe(50_000);
  expect(wakeAt({ ...waiting, timeout_ms: 1_000, started_at: 30_000 })).toBe(31_000);
  const cancelling = { cause: "request" as const, by: 99_000 };
  expect(wakeAt({ ...waiting, state: "CANCELLING", cancelling })).toBe(99_000);
  expect(wakeAt({ ...running, state: "CANCELLING", cancelling })).toBeNull();
  expect(wakeAt({ ...waiting, state: "FAILED" })).toBeNull();
});
