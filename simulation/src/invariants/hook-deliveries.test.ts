import { expect, test } from "vitest";
import type { Evidence } from "../evidence.ts";
import { hookDeliveries } from "./hook-deliveries.ts";
import type { Draft } from "./testing/sample-evidence.ts";
import { COMPLETED_AT, hooked, written } from "./testing/sample-hooks.ts";

function judged(edit?: (evidence: Draft<Evidence>) => void) {
  return hookDeliveries(hooked(edit));
}

/** With other writes of the hook, or without its delivery. */
function withHook(writes: readonly object[], { isGone = false } = {}) {
  return judged((evidence) => {
    evidence.hooks.length = 0;
    evidence.hooks.push(...(writes as never[]));
    if (isGone) evidence.deliveries.length = 0;
  });
}

const found = (text: string) => [
  { invariant: "I18", execution_id: "e1", message: expect.stringContaining(text) },
];

test("I18 HOOK-14 an event with its delivery is right", () => {
  expect(judged()).toEqual([]);
});

test("I18 HOOK-14 an event without its delivery is found", () => {
  const lost = judged(({ deliveries }) => void deliveries.pop());
  expect(lost).toMatchObject(found("fires hook page, and has no delivery"));
});

test("I18 HOOK-12 a delivery of a hook that did not ask for its event is found", () => {
  const none = found("no event that fires the hook was committed");
  expect(withHook([written(COMPLETED_AT + 1, {})])).toMatchObject(none);
  expect(withHook([written(1, { enabled: false })])).toMatchObject(none);
  expect(withHook([written(1, { selectors: ["execution:*:program:failed"] })])).toMatchObject(none);
  const off = written(COMPLETED_AT - 1, { enabled: false, revision: 2 });
  expect(withHook([written(1, {}), off])).toMatchObject(none);
});

test("I18 HOOK-12 what was written in the same moment may be known or not", () => {
  const off = written(COMPLETED_AT, { enabled: false, revision: 2 });
  expect(withHook([written(1, {}), off])).toEqual([]);
  expect(withHook([written(1, {}), off], { isGone: true })).toEqual([]);
});

test("I18 HOOK-4 deliveries go with their hook, and none stays behind", () => {
  const gone = [written(1, {}), written(COMPLETED_AT + 1, null)];
  expect(withHook(gone, { isGone: true })).toEqual([]);
  expect(withHook(gone)).toMatchObject(found("its hook is gone, and it is left"));
});

test("I18 HOOK-10 a second delivery of an event is found, and another selector than the first", () => {
  const twice = judged(({ deliveries }) => void deliveries.push({ ...deliveries[0] } as never));
  expect(twice).toMatchObject(found("its event has another one"));
  const selectors = ["execution:default:*:completed", "execution:*:program:completed"];
  expect(withHook([written(1, { selectors })])).toMatchObject(found("does not match first"));
});

test("I18 HOOK-6 asterisks stand for one segment, and at the end for all that are left", () => {
  const fires = (selector: string) =>
    hookDeliveries(
      hooked(({ hooks, deliveries }) => {
        hooks.length = 0;
        hooks.push(written(1, { selectors: [selector] }) as never);
        deliveries.length = 0;
      }),
    ).length;
  // The first execution of the sample completes; the second one, a step of which is undone, is cancelled.
  expect(fires("execution:*:*:completed")).toBe(1);
  expect(fires("execution:default:program:completed:*")).toBe(1);
  expect(fires("execution:*:cancelled")).toBe(0);
  expect(fires("task:default:program:undoable:rollback_completed")).toBe(1);
  expect(fires("execution:*:program:running")).toBe(4);
  expect(fires("task:*:*:undoable:*")).toBe(6);
});

test("I18 HOOK-14 EXE-87 what a fork has copied fires nothing, and what it adds does", () => {
  const asFork = (seq: number, isFired: boolean) =>
    judged(({ hooks, commits, deliveries }) => {
      const [created] = commits;
      hooks.push({
        ...written(1, { id: "h2", selectors: ["execution:*:program:claimed"] }),
        hook_id: "h2",
      } as never);
      commits.length = 0;
      const row = { ...created.row, forked_from: { execution_id: "e0", seq } };
      commits.push({ ...created, row } as never);
      deliveries.length = 0;
      if (isFired)
        deliveries.push({ ...hooked().deliveries[0], hook_id: "h2", event_key: "e1:2" } as never);
    });
  // The second event claims it.
  expect(asFork(2, false)).toEqual([]);
  expect(asFork(2, true)).toMatchObject(found("no event that fires the hook was committed"));
  expect(asFork(1, false)).toMatchObject(found("has no delivery"));
});

test("I19 HOOK-34 a delivery at another hop than its event is found, and one that is not as its event", () => {
  const wrong = (over: object) =>
    judged(({ deliveries }) => void Object.assign(deliveries[0], over));
  expect(wrong({ hop: 1 })).toMatchObject(found("it is at hop 1, and its event at 0"));
  expect(wrong({ event_type: "failed" })).toMatchObject(found("its event is WORKFLOW_COMPLETED"));
  expect(wrong({ source_workflow: "default/guest" })).toMatchObject(found("of default/guest"));
  expect(wrong({ id: "d1" })).toMatchObject(found("its id is to be"));
  expect(wrong({ envelope: '{"event":{}}' })).toMatchObject(found("of something else"));
});
