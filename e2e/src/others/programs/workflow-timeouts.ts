import { call, sleep, workflow } from "@engine/sdk";
import type { Programs } from "../program.ts";
import { echo, hangs } from "./tasks.ts";

export const sleepsTooLong = workflow({ name: "sleeps_too_long", timeout: "1500ms" }, async () => {
  await echo("before");
  await sleep("1h");
  return "never";
});

export const worksTooLong = workflow({ name: "works_too_long", timeout: "800ms" }, async () => {
  await hangs("for ever");
});

export const ownTimerTooLong = workflow(
  { name: "own_timer_too_long", timeout: "900ms" },
  async () => {
    await echo("before");
    await new Promise((resolve) => setTimeout(resolve, 3_600_000));
  },
);

export const isInTime = workflow({ name: "is_in_time", timeout: "1h" }, async () => {
  await echo("one");
  await sleep(60);
  return echo("two");
});

export const catchesItsEnd = workflow({ name: "catches_its_end", timeout: "900ms" }, async () => {
  try {
    await sleep("1h");
  } catch {
    await echo("must not be").catch(() => {});
  }
  return "as if nothing had been";
});

export const slowChild = workflow({ name: "slow_child", timeout: "900ms" }, async () => {
  await echo("child");
  await sleep("1h");
});

export const childIsSlow = workflow({ name: "child_is_slow" }, async () => {
  try {
    return await call(slowChild);
  } catch (error) {
    const { cause } = error as { readonly cause: { readonly failure: { readonly type: string } } };
    return [(error as Error).name, cause.failure.type];
  }
});

export const tooSlowForItsChild = workflow(
  { name: "too_slow_for_its_child", timeout: "1200ms" },
  async () => {
    await call(isPatient);
  },
);

export const isPatient = workflow({ name: "is_patient" }, async () => {
  await echo("patience");
  await sleep("1h");
});

export const workflowTimeouts: Programs = {
  sleeps_too_long: {
    sees: "a workflow fails when its time is over, also while it sleeps",
    failure: { type: "WorkflowTimeoutError", code: "timeout" },
  },
  works_too_long: {
    sees: "a workflow fails when its time is over, and the task that runs is told to stop",
    failure: { type: "WorkflowTimeoutError" },
  },
  own_timer_too_long: {
    sees: "a workflow fails when its time is over, also while it waits for a timer of its own",
    isCalm: true,
    drive: async (it) => {
      const from = Date.now();
      await it.untilEnded();
      const took = Date.now() - from;
      if (took > 20_000) throw new Error(`its end took ${took} ms`);
    },
    failure: { type: "WorkflowTimeoutError" },
  },
  is_in_time: {
    sees: "a workflow that is quick enough is not disturbed by its timeout",
    output: "two",
    did: ["echo one", "echo two"],
  },
  catches_its_end: {
    sees: "a workflow that catches the end of its time does nothing more, and has failed",
    failure: { type: "WorkflowTimeoutError" },
    did: [],
  },
  child_is_slow: {
    sees: "a child whose time is over has failed, and its parent is told why",
    output: ["ChildFailedError", "WorkflowTimeoutError"],
  },
  too_slow_for_its_child: {
    sees: "when the time of a parent is over its child ends with it",
    failure: { type: "WorkflowTimeoutError" },
  },
};
