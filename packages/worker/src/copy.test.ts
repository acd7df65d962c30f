import { expect, test } from "vitest";
import { begin, Copies, tell } from "./copy.ts";
import type { ToRunner } from "./messages.ts";
import type { Runner } from "./runner.ts";

test("EXE-43 what arrives for a copy while its log or module is still being fetched follows its start", () => {
  const posted: ToRunner[] = [];
  const runner: Runner = {
    load: 0,
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
