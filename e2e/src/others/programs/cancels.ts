import { setTimeout as wait } from "node:timers/promises";
import {
  CancelledError,
  call,
  map,
  parallel,
  pause,
  signal,
  sleep,
  task,
  workflow,
} from "@engine/sdk";
import { did } from "../did.ts";
import type { Outside } from "../outside.ts";
import type { Programs } from "../program.ts";
import { echo, hangs } from "./tasks.ts";

/** Works until it is stopped; takes back what it did. */
const reserves = task(
  {
    name: "reserves",
    rollback: async (what: string, ctx) => {
      await did(ctx, `give back ${what}`);
    },
  },
  async (what: string, ctx) => {
    await did(ctx, `reserve ${what}`);
    await new Promise((_resolve, reject) => {
      ctx.signal.addEventListener("abort", () => reject(ctx.signal.reason), { once: true });
    });
  },
);

export const cancelAsleep = workflow({ name: "cancel_asleep" }, async () => {
  await echo("before");
  await sleep("1h");
  await echo("must not be");
});

export const cancelAsking = workflow({ name: "cancel_asking" }, async () => {
  await pause("ask");
  await echo("must not be");
});

export const cancelListening = workflow({ name: "cancel_listening" }, async () => {
  await signal("letter");
  await echo("must not be");
});

export const cancelOwnTimer = workflow({ name: "cancel_own_timer" }, async () => {
  await echo("before");
  await new Promise((resolve) => setTimeout(resolve, 3_600_000));
  await echo("must not be");
});

export const cancelTimerOfPromises = workflow({ name: "cancel_timer_of_promises" }, async () => {
  await echo("before");
  await wait(3_600_000);
  await echo("must not be");
});

export const cancelAtWork = workflow({ name: "cancel_at_work" }, async () => {
  await hangs("work");
  await echo("must not be");
});

export const cancelReserved = workflow({ name: "cancel_reserved" }, async () => {
  await echo("before");
  await reserves("a seat");
  await echo("must not be");
});

export const cancelSeveral = workflow({ name: "cancel_several" }, async () => {
  await parallel([() => reserves("a seat"), () => reserves("a meal"), () => hangs("a view")]);
});

export const cancelCaught = workflow({ name: "cancel_caught" }, async () => {
  try {
    await sleep("1h");
  } catch (error) {
    if (!(error instanceof CancelledError)) throw error;
    await echo("must not be").catch(() => {});
  }
  return "as if nothing had been";
});

export const cancelInALoop = workflow({ name: "cancel_in_a_loop" }, async () => {
  for (let i = 0; i < 1_000; i++) {
    await echo(i);
    await sleep(30);
  }
});

const flaky = task(
  { name: "flaky", retry: { maxAttempts: 100, delay: "1200ms" } },
  async (_, ctx) => {
    await did(ctx, `attempt ${ctx.attempt}`);
    throw new Error("again");
  },
);

export const cancelBetweenAttempts = workflow({ name: "cancel_between_attempts" }, () => flaky());

export const lodger = workflow({ name: "lodger" }, async () => {
  await reserves("a bed");
});

export const cancelWithChild = workflow({ name: "cancel_with_child" }, () => call(lodger));

export const cancelWithChildren = workflow({ name: "cancel_with_children" }, () =>
  map([1, 2, 3], () => call(lodger)),
);

export const goesOn = workflow({ name: "goes_on" }, async () => {
  await signal("go");
  return echo("went on");
});

export const cancelDetached = workflow({ name: "cancel_detached" }, async () => {
  await call(goesOn, undefined, { wait: false, detach: true });
  await echo("detached");
  await sleep("1h");
});

export const cancelTwice = workflow({ name: "cancel_twice" }, () => reserves("twice"));

export const cancelTooLate = workflow({ name: "cancel_too_late" }, () => echo("done"));

export const cancelGraceful = workflow({ name: "cancel_graceful" }, async () => {
  const stop = signal("cancel").then(() => "stopped");
  const work = (async () => {
    for (let i = 0; i < 1_000; i++) await sleep(25);
    return "worked";
  })();
  const outcome = await Promise.race([stop, work]);
  if (outcome === "stopped") await echo("cleans up");
  return outcome;
});

const withdraws = task(
  {
    name: "withdraws",
    rollback: async (_: unknown, ctx) => {
      await did(ctx, "withdrawn");
      throw new Error("could not withdraw");
    },
  },
  async (_: unknown, ctx) => {
    await did(ctx, "ordered");
    await new Promise((_resolve, reject) => {
      ctx.signal.addEventListener("abort", () => reject(ctx.signal.reason), { once: true });
    });
  },
);

export const cancelBadly = workflow({ name: "cancel_badly" }, () => withdraws(null));

export const cancelDoneBefore = workflow({ name: "cancel_done_before" }, async () => {
  await quick("paid");
  await sleep("1h");
});

const quick = task(
  {
    name: "quick",
    rollback: async (what: string, ctx) => {
      await did(ctx, `must not be: ${what}`);
    },
  },
  async (what: string, ctx) => {
    await did(ctx, what);
    return what;
  },
);

const cancelled = { cancelled: true } as const;
const whenIt = (waits: "sleep" | "pause" | "signal" | "child" | "retry") => async (it: Outside) => {
  await it.untilWaits(waits);
  await it.cancel("changed my mind");
};
/** What has no start in the log when its worker dies needs no taking back: nobody knows of it. */
const onceItDid =
  (note: string, ...tasks: readonly string[]) =>
  async (it: Outside) => {
    await it.untilDid(note);
    for (const task of tasks) await it.untilBegun(task);
    await it.cancel();
  };

/** A cancel is over in so long, whatever is waited for; far below any time that it may be given. */
const SOON_MS = 12_000;

/** Cancels and waits for the end, which has to come soon. */
const soon = (note: string) => async (it: Outside) => {
  await it.untilDid(note);
  await it.untilWaits("sleep");
  const from = Date.now();
  await it.cancel();
  await it.untilEnded();
  const took = Date.now() - from;
  if (took > SOON_MS) throw new Error(`the cancel took ${took} ms`);
};

export const cancels: Programs = {
  cancel_asleep: {
    sees: "a workflow that is cancelled while it sleeps does nothing more",
    drive: whenIt("sleep"),
    ...cancelled,
    did: ["echo before"],
  },
  cancel_asking: {
    sees: "a workflow that is cancelled while it asks does nothing more",
    drive: whenIt("pause"),
    ...cancelled,
    did: [],
  },
  cancel_listening: {
    sees: "a workflow that is cancelled while it waits for a signal does nothing more",
    drive: whenIt("signal"),
    ...cancelled,
    did: [],
  },
  cancel_own_timer: {
    sees: "a workflow that is cancelled while it waits for a timer of the language ends as soon",
    isCalm: true,
    drive: soon("echo before"),
    ...cancelled,
    did: ["echo before"],
  },
  cancel_timer_of_promises: {
    sees: "a workflow that is cancelled while it awaits a timer of the language ends as soon",
    isCalm: true,
    drive: soon("echo before"),
    ...cancelled,
    did: ["echo before"],
  },
  cancel_at_work: {
    sees: "a task that runs is told that its workflow is cancelled, and nothing comes after it",
    drive: onceItDid("hangs work"),
    ...cancelled,
    did: ["hangs work"],
  },
  cancel_reserved: {
    sees: "what a task was about to do is taken back when its workflow is cancelled",
    drive: onceItDid("reserve a seat", "reserves"),
    ...cancelled,
    did: ["echo before", "reserve a seat", "give back a seat"],
  },
  cancel_several: {
    sees: "everything that was under way is taken back, each once",
    drive: async (it) => {
      await it.untilDid("reserve a seat");
      await it.untilDid("reserve a meal");
      await it.untilDid("hangs a view");
      await it.untilBegun("reserves", 2);
      await it.cancel();
    },
    ...cancelled,
    didInAnyOrder: [
      ...["reserve a seat", "reserve a meal", "hangs a view"],
      ...["give back a seat", "give back a meal"],
    ],
  },
  cancel_caught: {
    sees: "a workflow that catches its cancel and returns is cancelled all the same",
    drive: whenIt("sleep"),
    ...cancelled,
    did: [],
  },
  cancel_in_a_loop: {
    sees: "a loop that is cancelled in the middle makes no further round",
    drive: onceItDid("echo 3"),
    cancelled: true,
  },
  cancel_between_attempts: {
    sees: "a task that waits for its next attempt is not tried again after a cancel",
    drive: onceItDid("attempt 1"),
    cancelled: true,
  },
  cancel_with_child: {
    sees: "a child is cancelled with its parent, and takes back what it was about to do",
    drive: onceItDid("reserve a bed", "reserves"),
    ...cancelled,
    did: ["reserve a bed", "give back a bed"],
  },
  cancel_with_children: {
    sees: "all children are cancelled with their parent",
    drive: async (it) => {
      await it.untilWaits("child");
      await it.cancel();
    },
    cancelled: true,
  },
  cancel_detached: {
    sees: "a child that was let go goes on when its parent is cancelled",
    drive: async (it) => {
      await it.untilDid("echo detached");
      await it.cancel();
      await it.untilEnded();
      const [child = ""] = await it.children();
      await it.ask("POST", `/executions/${child}/signals/go`, null);
      await it.untilDid("echo went on");
      await it.untilEnded(child);
    },
    ...cancelled,
    did: ["echo detached", "echo went on"],
  },
  cancel_twice: {
    sees: "a second cancel changes nothing: what is taken back is so once",
    drive: async (it) => {
      await it.untilDid("reserve twice");
      await it.untilBegun("reserves");
      await it.cancel("one");
      await it.cancel("two");
    },
    ...cancelled,
    did: ["reserve twice", "give back twice"],
  },
  cancel_too_late: {
    sees: "what has ended cannot be cancelled any more",
    drive: async (it) => {
      await it.untilEnded();
      const status = await it.cancel();
      if (status !== 409) throw new Error(`the cancel was answered ${status}`);
    },
    output: "done",
    did: ["echo done"],
  },
  cancel_graceful: {
    sees: "a workflow that is asked to stop by a signal cleans up and returns",
    drive: async (it) => {
      await it.untilWaits("signal", "cancel");
      await it.signal("cancel");
    },
    output: "stopped",
    did: ["echo cleans up"],
  },
  cancel_badly: {
    sees: "when something cannot be taken back the workflow is cancelled all the same",
    drive: onceItDid("ordered", "withdraws"),
    ...cancelled,
    did: ["ordered", "withdrawn"],
  },
  cancel_done_before: {
    sees: "what was done before the cancel stays done",
    drive: async (it) => {
      await it.untilDid("paid");
      await it.untilWaits("sleep");
      await it.cancel();
    },
    ...cancelled,
    did: ["paid"],
  },
};
