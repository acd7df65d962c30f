import { expect, test } from "vitest";
import type { ToRunner } from "../runners/messages.ts";
import type { Runner } from "../runners/runner.ts";
import { begin, Copies, learn, tell } from "./copy.ts";

test("EXE-43 what arrives for a copy while its log or module is still being fetched follows its start", () => {
  const posted: ToRunner[] = [];
  const runner: Runner = {
    load: 0,
    isReady: true,
    isShared: true,
    entered: 0,
    culprit: 0,
    loaded: new Set(),
    post: (messages) => void posted.push(...messages),
    close: async () => {},
  };
  const fresh = { execution_id: "e", module_hash: "m", name: null, generation: 1, seq: 2 };
  const copy = new Copies().add({ ...fresh, listening: false });
  copy.runner = runner;
  const cancel: ToRunner = { kind: "events", copy: copy.number, base_seq: 2, events: [] };
  const listen: ToRunner = { kind: "listen", copy: copy.number, on: true };
  tell(copy, cancel);
  tell(copy, listen);
  expect(posted).toEqual([]);
  const start = { kind: "wake", copy: copy.number, events: [], listen: false } as const;
  begin(copy, runner, start);
  tell(copy, listen);
  expect(posted).toEqual([start, cancel, listen, listen]);
});

test("DSP-9 events that overtake the answer to a checkpoint count as known once that has come", () => {
  const fresh = { execution_id: "e", module_hash: "m", name: null, generation: 1, seq: 4 };
  const copy = new Copies().add({ ...fresh, listening: false });
  // The server has committed a checkpoint up to 6 and a cancel as 7; the cancel comes first.
  learn(copy, 6, 7);
  expect(copy.seq).toBe(4);
  learn(copy, 0, 6);
  expect(copy.seq).toBe(7);
  learn(copy, 4, 6);
  expect(copy.seq).toBe(7);
});
