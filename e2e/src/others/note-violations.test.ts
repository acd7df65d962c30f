import type { RecordedEvent } from "@engine/contract";
import { expect, test } from "vitest";
import type { Note } from "./did.ts";
import { distinctNotes, noteViolations } from "./note-violations.ts";

const AT = Date.parse("2026-01-01T00:00:00.000Z");

function note(at: number, more: Partial<Note> = {}): Note {
  const of = { execution: "e1", call: "pay~1", attempt: 1, note: "pay", pid: 10, ppid: 9 };
  return { ...of, at: AT + at, ...more };
}

function event(type: string, at: number, more: Partial<RecordedEvent> = {}): RecordedEvent {
  const recorded_at = new Date(AT + at).toISOString();
  const of = { seq: 1, source_id: "pay~1", name: "pay", kind: null, value: null, meta: null };
  return { ...of, type, recorded_at, time: recorded_at, ...more } as RecordedEvent;
}

const LOG = [event("TASK_STARTED", 0), event("TASK_COMPLETED", 5_000)];

test("a task that ran again while its process lived is found", () => {
  expect(noteViolations([note(0), note(1_000, { pid: 11 })], LOG, new Map())).toEqual([
    'pay~1: "pay" again, while 10, which had it, lived',
  ]);
  const endedLater = new Map([[10, AT + 9_000]]);
  expect(noteViolations([note(0), note(1_000, { pid: 11 })], LOG, endedLater)).toHaveLength(1);
});

test("a task that ran again after its process had ended is right, once for each end", () => {
  const ends = new Map([[10, AT + 900]]);
  const twice = [note(0), note(1_000, { pid: 11 })];
  expect(noteViolations(twice, LOG, ends)).toEqual([]);
  expect(noteViolations([...twice, note(2_000, { pid: 12 })], LOG, ends)).toHaveLength(1);
  // A runner's process ends with its worker.
  const orphan = [note(0, { ppid: 1 }), note(1_000, { pid: 11 })];
  expect(noteViolations(orphan, LOG, new Map())).toEqual([]);
});

test("a task that ran after its outcome was recorded is found", () => {
  const ends = new Map([[10, AT + 5_500]]);
  expect(noteViolations([note(0), note(6_000, { pid: 11 })], LOG, ends)).toEqual([
    'pay~1: "pay" after the outcome was recorded',
  ]);
});

test("further attempts, rollbacks after a cancel and tasks that wait inside are none of these", () => {
  const attempts = [note(0), note(1_000, { attempt: 2 })];
  expect(noteViolations(attempts, LOG, new Map())).toEqual([]);

  const undone = [...LOG, event("TASK_ROLLBACK_STARTED", 6_000)];
  const rollback = [note(0), note(6_000, { note: "give back" })];
  expect(noteViolations(rollback, undone, new Map())).toEqual([]);

  const inside = event("TASK_STARTED", 1, { source_id: "pay~1/sleep~1", kind: "sleep" });
  expect(noteViolations([note(0), note(2_000)], [...LOG, inside], new Map())).toEqual([]);
});

test("what was noted again counts once, what was told in another way counts as well", () => {
  const notes = [note(2_000), note(0), note(1_000, { note: "pay more" })];
  expect(distinctNotes(notes)).toEqual(["pay", "pay more"]);
});
