import { expect, test } from "vitest";
import type { Evidence } from "../evidence.ts";
import { hookStarts } from "./hook-starts.ts";
import type { Draft } from "./testing/sample-evidence.ts";
import { COMPLETED_AT, ENVELOPE, hooked, TARGET, target, written } from "./testing/sample-hooks.ts";
import { BEGAN } from "./testing/told.ts";

function judged(edit?: (evidence: Draft<Evidence>) => void) {
  return hookStarts(hooked(edit));
}

/** With another delivery than it should be, which has started something or nothing. */
function withDelivery(over: object, { hasStarted = true } = {}) {
  return judged((evidence) => {
    Object.assign(evidence.deliveries[0], over);
    if (hasStarted) return;
    evidence.executions.pop();
    evidence.commits.pop();
  });
}

const says = (text: string) => [{ invariant: "I19", message: expect.stringContaining(text) }];
const DEAD = { status: "dead", execution_id: null, error: "why" };

test("I19 HOOK-30 a delivery that has started its target is right", () => {
  expect(judged()).toEqual([]);
});

test("I19 HOOK-30 a delivery that has started nothing, or something else, is found", () => {
  expect(withDelivery({}, { hasStarted: false })).toMatchObject(says("0 times"));
  expect(withDelivery({ execution_id: "e9" })).toMatchObject(says(`is to be ${TARGET}`));
  expect(withDelivery({ attempts: 6 })).toMatchObject(says("6 tries of 5"));
  const other = judged(({ executions }) => void Object.assign(executions[2].row, { input: {} }));
  expect(other).toMatchObject(says("has started it with {}"));
});

test("I19 HOOK-30 a second target of a delivery is found", () => {
  const second = judged(({ executions, commits }) => {
    const { execution, commits: own } = target("e9");
    executions.push(execution as never);
    commits.push(...(own as never[]));
  });
  expect(second).toMatchObject([
    ...says("has started it, and is to start"),
    ...says("were both started"),
  ]);
});

test("I19 HOOK-30 a target without a delivered row is found, unless its hook was deleted", () => {
  const without = (isDeleted: boolean) =>
    judged(({ deliveries, hooks }) => {
      deliveries.length = 0;
      if (isDeleted) hooks.push(written(COMPLETED_AT + 20, null) as never);
    });
  expect(without(false)).toMatchObject(says("there is no delivery"));
  expect(without(true)).toEqual([]);
});

test("I19 HOOK-26 a start by a hook that had changed before is found", () => {
  const changed = (over: object, moment = COMPLETED_AT + 5) =>
    judged(({ hooks }) => void hooks.push(written(moment, { revision: 2, ...over }) as never));
  const message = "which its hook did not want any more";
  expect(changed({ enabled: false })).toMatchObject(says(message));
  expect(changed({ workflow: "default/hooked_parent" })).toMatchObject(says(message));
  // In the same moment, and behind it.
  expect(changed({ enabled: false }, COMPLETED_AT + 10)).toEqual([]);
  expect(changed({ enabled: false }, COMPLETED_AT + 20)).toEqual([]);
});

test("I19 HOOK-45 a start as somebody else is found", () => {
  const asAccount = (run_as: string | null) =>
    judged(({ accounts, commits }) => {
      accounts.push({ id: "a1", subject: "somebody" });
      const last = commits.at(-1) as Draft<Evidence>["commits"][number];
      Object.assign(last, { row: { ...last.row, run_as } });
    });
  expect(asAccount("a1")).toEqual([]);
  expect(asAccount("a2")).toMatchObject(says("as a2"));
});

test("I18 HOOK-25 a delivery that is left when all is at rest is found", () => {
  const left = { status: "pending", execution_id: null, attempts: 0 };
  expect(withDelivery(left, { hasStarted: false })).toMatchObject(says("is pending after 0 tries"));
});

test("HOOK-25 a delivery that waits where nothing is broken is found", () => {
  const settled = (after: number, over: object = {}) =>
    judged((evidence) => {
      const at = BEGAN + COMPLETED_AT + after;
      Object.assign(evidence.deliveries[0], { settled_at: at });
      Object.assign(evidence, over);
    });
  expect(settled(3_000)).toEqual([]);
  expect(settled(3_001)).toMatchObject(says("took 3001 ms"));
  expect(settled(30_000, { drains_at_once: false })).toEqual([]);
  expect(settled(30_000, { calm_at: BEGAN + COMPLETED_AT })).toEqual([]);
  expect(settled(30_000, { handed_back_at: BEGAN + COMPLETED_AT + 1 })).toEqual([]);
});

test("I19 HOOK-29 a delivery is dead of what there was", () => {
  const dead = (over: object, hop = 0) => {
    const found = withDelivery({ ...DEAD, ...over, hop }, { hasStarted: false });
    return found.length;
  };
  expect(dead({ dead_reason: "hook_disabled" })).toBe(1);
  expect(dead({ dead_reason: "malformed" })).toBe(1);
  expect(dead({ dead_reason: "target_not_found" })).toBe(1);
  expect(dead({ dead_reason: "principal_disabled" })).toBe(1);
  expect(dead({ dead_reason: "hop_limit" })).toBe(1);
  expect(dead({ dead_reason: "hop_limit" }, 3)).toBe(0);
  expect(dead({ dead_reason: "attempts_exhausted", attempts: 4 })).toBe(1);
  expect(dead({ dead_reason: "attempts_exhausted", attempts: 5 })).toBe(0);
});

test("I19 HOOK-29 a delivery that is dead and has started something is found", () => {
  const found = withDelivery({ ...DEAD, dead_reason: "attempts_exhausted", attempts: 5 });
  expect(found).toMatchObject([
    ...says("is dead of attempts_exhausted, and has started"),
    ...says("the delivery is dead"),
  ]);
});

test("I19 HOOK-34 nothing starts at the limit of hops", () => {
  const found = judged((evidence) => void Object.assign(evidence, { hop_limit: 0 }));
  expect(found).toMatchObject([...says("and the limit is 0"), ...says("and the limit is 0")]);
});

test("I19 HOOK-33 children and forks have the hook of what they come from behind them", () => {
  const from = (over: object, hook: object | null) =>
    judged(({ executions }) => void Object.assign(executions[1].row, { ...over, hook }));
  const { hook } = target(TARGET).execution.row;
  for (const over of [{ parent_id: TARGET }, { forked_from: { execution_id: TARGET, seq: 1 } }]) {
    expect(from(over, hook)).toEqual([]);
    expect(from(over, null)).toMatchObject(says("from which it comes"));
  }
  expect(from({}, hook)).toMatchObject(says("no hook has started it"));
});

test("I19 HOOK-33 who hands an envelope on goes on with its chain, and nobody else's", () => {
  const handed = (
    hook: object | null,
    by: { readonly started_by: string; readonly ran_as: string },
  ) =>
    judged(({ executions, accounts, commits }) => {
      const { ran_as: run_as, started_by } = by;
      accounts.push({ id: "a1", subject: "somebody" });
      Object.assign(executions[2].row, { run_as });
      const start = commits.at(-1) as Draft<Evidence>["commits"][number];
      Object.assign(start, { row: { ...start.row, run_as } });
      Object.assign(executions[1].row, { input: ENVELOPE, hook, started_by });
    });
  const { hook } = target(TARGET).execution.row;
  const own = { started_by: "a1", ran_as: "a1" };
  expect(handed(hook, own)).toEqual([]);
  expect(handed(null, own)).toMatchObject(says("it has no hook behind it"));
  const foreign = { started_by: "a2", ran_as: "a1" };
  expect(handed(null, foreign)).toEqual([]);
  expect(handed(hook, foreign)).toMatchObject(says("no hook has started it"));
});

test("HOOK-37 what a test has started is at hop 0, of no delivery", () => {
  const tested = (hop: number) =>
    judged(({ executions }) => {
      const hook = { name: "page", delivery_id: "hook-test-1", hop };
      executions.push(target("e9", { hook }).execution as never);
    });
  expect(tested(0)).toEqual([]);
  expect(tested(1)).toMatchObject(says("a test has started it at hop 1"));
});
