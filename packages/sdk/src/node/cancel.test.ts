import { expect, test } from "vitest";
import { CancelledError, call, parallel, pause, signal, sleep, task, workflow } from "../index.ts";
import { cancelAndCrashEverywhere, marked, undo } from "./testing/cancel-sweep.ts";
import { Scene } from "./testing/scene.ts";

const hangs = task({ name: "hangs" }, () => new Promise<string>(() => {}));

test("EXE-42 a running body's call is given up, its signal aborts, then the execution is CANCELLED", async () => {
  let reason: unknown;
  const listens = task({ name: "listens" }, (_, { signal }) => {
    signal.addEventListener("abort", () => (reason = signal.reason));
    return new Promise(() => {});
  });
  let caught: unknown;
  const wf = workflow({ name: "w" }, async () => {
    try {
      await listens();
    } catch (error) {
      caught = error;
      throw error;
    }
  });
  const scene = new Scene([wf]);
  await scene.start();
  scene.engine.cancel("e1", { by: "ada", reason: "wrong" });
  await scene.toEnd();
  expect(scene.story().slice(3)).toEqual([
    "TASK_STARTED listens~1",
    "WORKFLOW_CANCELLING",
    "TASK_CANCELLED listens~1",
    "WORKFLOW_CANCELLED",
  ]);
  expect(scene.log()[4]).toMatchObject({
    value: null,
    meta: { by: "ada", cause: "request", reason: "wrong" },
  });
  expect(scene.log().at(-1)).toMatchObject({ value: null, meta: { cause: "request" } });
  expect(caught).toBeInstanceOf(CancelledError);
  expect(caught).toMatchObject({ failure: { type: "CancelledError", task_call_id: "listens~1" } });
  expect(reason).toMatchObject({ failure: { type: "CancelledError" } });
});

test("EXE-42 a body that catches the cancel and returns is CANCELLED all the same", async () => {
  const wf = workflow({ name: "w" }, async () => {
    try {
      return await hangs();
    } catch {
      return "caught";
    }
  });
  const scene = new Scene([wf]);
  await scene.start();
  scene.engine.cancel("e1");
  const row = await scene.toEnd();
  expect(row).toMatchObject({ state: "CANCELLED", output: null, failure: null });
});

test("EXE-42 no call starts after a cancel: a later one rejects the same way", async () => {
  const caught: unknown[] = [];
  const wf = workflow({ name: "w" }, async () => {
    await hangs().catch((error: unknown) => caught.push(error));
    for (const late of [
      () => hangs(),
      () => sleep("1s"),
      () => pause("p"),
      () => parallel([() => hangs()]),
    ]) {
      await late().catch((error: unknown) => caught.push(error));
    }
    await call("other").catch((error: unknown) => caught.push(error));
  });
  const scene = new Scene([wf]);
  await scene.start();
  scene.engine.cancel("e1");
  await scene.toEnd();
  expect(caught).toHaveLength(6);
  for (const error of caught) expect(error).toBeInstanceOf(CancelledError);
  expect(scene.types().filter((t) => t === "TASK_STARTED")).toHaveLength(1);
  expect(scene.row().state).toBe("CANCELLED");
});

test("EXE-25 open calls are given up innermost first, whatever began them", async () => {
  const outer = task({ name: "outer" }, async () => hangs());
  const wf = workflow({ name: "w" }, async () =>
    parallel([() => outer(), () => parallel([() => sleep("1h"), () => pause("p")])]),
  );
  const scene = new Scene([wf]);
  await scene.start();
  scene.engine.cancel("e1");
  await scene.toEnd();
  const cancelled = scene.story().filter((line) => line.startsWith("TASK_CANCELLED"));
  const depths = cancelled.map((line) => line.split("/").length);
  expect(depths).toEqual([...depths].sort((a, b) => b - a));
  expect(cancelled.map((line) => line.slice(15)).sort()).toEqual([
    "parallel~1",
    "parallel~1/outer~1",
    "parallel~1/outer~1/hangs~1",
    "parallel~1/parallel~1",
    "parallel~1/parallel~1/pause~1",
    "parallel~1/parallel~1/sleep~1",
  ]);
  expect(scene.types().at(-1)).toBe("WORKFLOW_CANCELLED");
});

test("EXE-42 rollbacks of open calls run after their TASK_CANCELLED, with no failure to tell", async () => {
  const undone: unknown[] = [];
  const charge = task(
    {
      name: "charge",
      retry: { maxAttempts: 5 },
      fallback: () => "never",
      rollback: (input: unknown, ctx) => void undone.push([input, ctx.failure, ctx.taskCallId]),
    },
    () => new Promise<string>(() => {}),
  );
  const scene = new Scene([workflow({ name: "w" }, async () => charge({ cents: 5 }))]);
  await scene.start();
  scene.engine.cancel("e1");
  await scene.toEnd();
  expect(undone).toEqual([[{ cents: 5 }, null, "charge~1"]]);
  expect(scene.story().slice(5)).toEqual([
    "TASK_CANCELLED charge~1",
    "TASK_ROLLBACK_STARTED charge~1",
    "TASK_ROLLBACK_COMPLETED charge~1",
    "WORKFLOW_CANCELLED",
  ]);
  expect(scene.log()[6]?.value).toEqual({ reason: "cancel" });
});

test("EXE-42 finished calls are not rolled back, nor one whose attempts had rolled it back already", async () => {
  const undone: string[] = [];
  const done = task({ name: "done", rollback: () => void undone.push("done") }, async () => 1);
  const stuck = task(
    {
      name: "stuck",
      rollback: () => void undone.push("stuck"),
      fallback: () => new Promise<never>(() => {}),
    },
    async () => {
      throw new Error("no");
    },
  );
  const wf = workflow({ name: "w" }, async () => {
    await done();
    await stuck();
  });
  const scene = new Scene([wf]);
  await scene.start();
  expect(scene.types()).toContain("TASK_FALLBACK_STARTED");
  scene.engine.cancel("e1");
  await scene.toEnd();
  expect(undone).toEqual(["stuck"]);
  expect(scene.types().slice(-2)).toEqual(["TASK_CANCELLED", "WORKFLOW_CANCELLED"]);
});

test("I5 a rollback that a failure began goes on through a cancel, and is not begun again", async () => {
  const undone: string[] = [];
  const charge = task(
    {
      name: "charge",
      fallback: () => "never",
      rollback: async (_: unknown, { signal }) => {
        undone.push("begun");
        await sleepFor(scene, 50);
        undone.push(signal.aborted ? "told to stop" : "done");
      },
    },
    async () => {
      throw new Error("no");
    },
  );
  const scene: Scene = new Scene([workflow({ name: "w" }, async () => charge())]);
  await scene.start();
  expect(scene.types()).toContain("TASK_ROLLBACK_STARTED");
  scene.engine.cancel("e1");
  await scene.toEnd();
  expect(undone).toEqual(["begun", "done"]);
  expect(scene.story().slice(-5)).toEqual([
    "TASK_ROLLBACK_STARTED charge~1",
    "WORKFLOW_CANCELLING",
    "TASK_CANCELLED charge~1",
    "TASK_ROLLBACK_COMPLETED charge~1",
    "WORKFLOW_CANCELLED",
  ]);
});

test("EXE-42 a rollback that a failure began gets rollback_timeout from the cancel on, and is told", async () => {
  let reason: unknown;
  const charge = task(
    {
      name: "charge",
      rollback: (_: unknown, { signal }) => {
        signal.addEventListener("abort", () => (reason = signal.reason));
        return new Promise<void>(() => {});
      },
    },
    async () => {
      throw new Error("no");
    },
  );
  const scene = new Scene([workflow({ name: "w" }, async () => charge())]);
  await scene.start();
  scene.engine.cancel("e1");
  await scene.toEnd();
  expect(scene.story().slice(-3)).toEqual([
    "TASK_CANCELLED charge~1",
    "TASK_ROLLBACK_FAILED charge~1",
    "WORKFLOW_CANCELLED",
  ]);
  const timeout = { type: "TaskTimeoutError" };
  expect(scene.log().at(-2)?.value).toMatchObject(timeout);
  expect(reason).toMatchObject({ failure: timeout });
});

test("I13 a call that a sibling's failure ended is rolled back where the log has a cancel first", async () => {
  const undone: string[] = [];
  const charge = task(
    { name: "charge", rollback: () => void undone.push("charge") },
    () => new Promise(() => {}),
  );
  const fails = task({ name: "fails" }, async () => {
    throw new Error("no");
  });
  const wf = workflow({ name: "w" }, async () => parallel([() => fails(), () => charge()]));
  const scene = new Scene([wf]);
  scene.onDelta = (id, { events }) => {
    // While it was on its way, somebody cancelled.
    if (events.includes("TASK_CANCELLED") && scene.row().state === "RUNNING") {
      scene.engine.cancel(id);
    }
  };
  await scene.run();
  expect(undone).toEqual(["charge"]);
  expect(scene.story().slice(-6)).toEqual([
    "WORKFLOW_CANCELLING",
    "TASK_CANCELLED parallel~1/charge~1",
    "TASK_CANCELLED parallel~1",
    "TASK_ROLLBACK_STARTED parallel~1/charge~1",
    "TASK_ROLLBACK_COMPLETED parallel~1/charge~1",
    "WORKFLOW_CANCELLED",
  ]);
});

test("I13 a body that ends before it sees a cancel begins nothing that it left to begin", async () => {
  let charged = 0;
  const charge = task({ name: "charge" }, async () => charged++);
  const wf = workflow({ name: "w" }, async () => {
    signal("go").then(
      () => charge(),
      () => {},
    );
    await signal("end");
    return "done";
  });
  const scene = new Scene([wf]);
  await scene.start();
  scene.engine.signal("e1", "go", 1);
  scene.engine.signal("e1", "end", 2);
  scene.engine.cancel("e1");
  await scene.toEnd();
  expect(scene.row()).toMatchObject({ state: "COMPLETED", output: "done" });
  expect(charged).toBe(0);
  expect(scene.story()).not.toContain("TASK_STARTED charge~1");
});

test("EXE-42 a rollback that takes longer than rollback_timeout is recorded as failed", async () => {
  let aborted = false;
  const slow = task(
    {
      name: "slow",
      rollback: (_: unknown, { signal }) => {
        signal.addEventListener("abort", () => (aborted = true));
        return new Promise<void>(() => {});
      },
    },
    () => new Promise(() => {}),
  );
  const scene = new Scene([workflow({ name: "w" }, async () => slow())]);
  await scene.start();
  scene.engine.cancel("e1");
  await scene.toEnd();
  expect(scene.story().slice(-3)).toEqual([
    "TASK_ROLLBACK_STARTED slow~1",
    "TASK_ROLLBACK_FAILED slow~1",
    "WORKFLOW_CANCELLED",
  ]);
  expect(scene.log().at(-2)?.value).toMatchObject({
    type: "TaskTimeoutError",
    message: "rollback of slow~1 took longer than rollback_timeout, 10s",
  });
  expect(aborted).toBe(true);
});

test("EXE-42 a rollback waits for the body it undoes, which gets the grace of a sibling", async () => {
  const order: string[] = [];
  const charge = task(
    { name: "charge", rollback: () => void order.push("rollback") },
    async (_: undefined, { signal }) => {
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      order.push("body");
    },
  );
  const scene = new Scene([workflow({ name: "w" }, async () => charge())]);
  await scene.start();
  scene.engine.cancel("e1");
  await scene.toEnd();
  expect(order).toEqual(["body", "rollback"]);
});

test("EXE-42 neither retry nor fallback runs for a call that a cancel interrupts", async () => {
  let attempts = 0;
  const flaky = task(
    { name: "flaky", retry: { maxAttempts: 9, delay: 0 }, fallback: () => "never" },
    (_: undefined, { signal }) => {
      attempts++;
      return new Promise<string>((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(new Error("aborted")));
      });
    },
  );
  const scene = new Scene([workflow({ name: "w" }, async () => flaky())]);
  await scene.start();
  scene.engine.cancel("e1");
  await scene.toEnd();
  expect(attempts).toBe(1);
  expect(scene.story().slice(4)).toEqual([
    "WORKFLOW_CANCELLING",
    "TASK_CANCELLED flaky~1",
    "WORKFLOW_CANCELLED",
  ]);
});

test.each(["1h", "500ms"] as const)(
  "EXE-42 a cancel between two attempts (%s apart) ends the call",
  async (delay) => {
    let attempts = 0;
    const flaky = task({ name: "flaky", retry: { maxAttempts: 9, delay } }, async () => {
      attempts++;
      throw new Error("no");
    });
    const scene = new Scene([workflow({ name: "w" }, async () => flaky())]);
    await scene.start();
    scene.engine.cancel("e1");
    await scene.toEnd();
    expect(attempts).toBe(1);
    expect(scene.row().state).toBe("CANCELLED");
    expect(scene.story()).toContain("TASK_CANCELLED flaky~1");
  },
);

test("EXE-17 row 13: a PAUSED execution is replayed to its open calls, which unwind", async () => {
  const undone: string[] = [];
  const outer = task({ name: "outer", rollback: () => void undone.push("outer") }, async () =>
    pause("inside"),
  );
  let cleaned = false;
  const wf = workflow({ name: "w" }, async () => {
    try {
      await outer();
    } finally {
      cleaned = true;
    }
  });
  const scene = new Scene([wf]);
  await scene.start();
  expect(scene.row().state).toBe("PAUSED");
  expect(cleaned).toBe(false);
  scene.engine.cancel("e1");
  await scene.toEnd();
  expect(undone).toEqual(["outer"]);
  expect(cleaned).toBe(true);
  expect(scene.story().slice(-6)).toEqual([
    "WORKFLOW_RESUMED",
    "TASK_CANCELLED outer~1/pause~1",
    "TASK_CANCELLED outer~1",
    "TASK_ROLLBACK_STARTED outer~1",
    "TASK_ROLLBACK_COMPLETED outer~1",
    "WORKFLOW_CANCELLED",
  ]);
});

test.each([
  ["sleep", () => sleep("1d")],
  ["pause", () => pause("p")],
  ["call", () => call("child")],
])("EXE-17 row 13: one that is parked on a %s is unwound by a worker", async (name, wait) => {
  const child = workflow({ name: "child" }, async () => pause("q"));
  const scene = new Scene([workflow({ name: "w" }, async () => wait()), child]);
  await scene.start();
  expect(scene.row().session).toBeNull();
  scene.engine.cancel("e1");
  await scene.toEnd();
  expect(scene.story().slice(-2)).toEqual([`TASK_CANCELLED ${name}~1`, "WORKFLOW_CANCELLED"]);
  for (const { state } of scene.engine.rows.values()) expect(state).toBe("CANCELLED");
});

test("EXE-17 row 15: a body that had ended before the cancel reached it ends the way it ended", async () => {
  // Beside another wait an outcome is in the log before the code has it.
  const wf = workflow({ name: "w" }, async () => {
    await Promise.race([sleep(100), sleep(200)]);
    return "done";
  });
  const scene = new Scene([wf]);
  scene.onDelta = (_, delta) => {
    if (delta.events.includes("WORKFLOW_COMPLETED")) scene.engine.cancel("e1");
  };
  await scene.run();
  expect(scene.types().slice(-4)).toEqual([
    "TASK_COMPLETED",
    "TASK_CANCELLED",
    "WORKFLOW_CANCELLING",
    "WORKFLOW_COMPLETED",
  ]);
  expect(scene.row()).toMatchObject({ state: "COMPLETED", output: "done" });
});

test("EXE-44 a workflow's timeout unwinds it and fails it, parked time included", async () => {
  const undone: string[] = [];
  const outer = task({ name: "outer", rollback: () => void undone.push("outer") }, async () =>
    sleep("1d"),
  );
  const wf = workflow({ name: "w", timeout: "2h" }, async () => outer());
  const scene = new Scene([wf]);
  await scene.start();
  const { started_at } = scene.row();
  await scene.advance(2 * 3_600_000 - 10);
  expect(scene.row().state).toBe("RUNNING");
  await scene.toEnd();
  expect(undone).toEqual(["outer"]);
  expect(scene.row()).toMatchObject({
    state: "FAILED",
    failure: {
      type: "WorkflowTimeoutError",
      code: "timeout",
      message: "workflow w took longer than its timeout of 7200000ms",
    },
  });
  const cancelling = scene.log().find(({ type }) => type === "WORKFLOW_CANCELLING");
  expect(cancelling?.meta).toMatchObject({ cause: "timeout" });
  expect(scene.row().finished_at).toBeGreaterThanOrEqual(Number(started_at) + 2 * 3_600_000);
});

test("EXE-43 the same cancel again, and its frame delivered twice, change nothing", async () => {
  const scene = new Scene([workflow({ name: "w" }, async () => hangs())]);
  await scene.start();
  const copy = scene.engine.copyOf("e1");
  const base = scene.row().head;
  scene.engine.cancel("e1");
  scene.engine.cancel("e1");
  copy?.deliver(base, scene.log().slice(base));
  copy?.deliver(base, scene.log().slice(base));
  await scene.toEnd();
  expect(scene.types().filter((t) => t === "WORKFLOW_CANCELLING")).toHaveLength(1);
  expect(scene.types().filter((t) => t === "TASK_CANCELLED")).toHaveLength(1);
});

test("EXE-42 a body that goes on with something of its own ends after the grace", async () => {
  const wf = workflow({ name: "w" }, async () => {
    await hangs().catch(() => {});
    await new Promise(() => {});
  });
  const scene = new Scene([wf]);
  await scene.start();
  scene.engine.cancel("e1");
  await scene.settle();
  expect(scene.row().state).toBe("CANCELLING");
  await scene.advance(2_000);
  expect(scene.row().state).toBe("CANCELLED");
});

test("DSP-9 an execution is CANCELLED once the bodies that it has told to stop have stopped", async () => {
  const order: string[] = [];
  const closed = Promise.withResolvers<void>();
  const tidies = task({ name: "tidies" }, async (_: undefined, { signal }) => {
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    await closed.promise;
    order.push("tidied");
  });
  const scene = new Scene([workflow({ name: "w" }, async () => tidies())]);
  await scene.start();
  scene.engine.cancel("e1");
  await scene.settle();
  expect(scene.story().at(-1)).toBe("TASK_CANCELLED tidies~1");
  closed.resolve();
  await scene.settle();
  expect(order).toEqual(["tidied"]);
  expect(scene.row().state).toBe("CANCELLED");
});

test("DSP-9 a body that ignores its signal is abandoned after the grace, and its outcome with it", async () => {
  const late = Promise.withResolvers<string>();
  const ignores = task({ name: "ignores" }, () => late.promise);
  const scene = new Scene([workflow({ name: "w" }, async () => ignores())]);
  await scene.start();
  scene.engine.cancel("e1");
  await scene.advance(1_999);
  expect(scene.row().state).toBe("CANCELLING");
  await scene.advance(1);
  expect(scene.row().state).toBe("CANCELLED");
  late.resolve("late");
  await scene.settle();
  expect(scene.types().slice(-2)).toEqual(["TASK_CANCELLED", "WORKFLOW_CANCELLED"]);
});

const forever = () => new Promise<string>(() => {});
const charge = task({ name: "charge", rollback: undo }, marked(forever));

test("EXE-42 wherever the worker is lost while it unwinds, the next one goes on with what is left", async () => {
  const inner = task({ name: "inner" }, marked(forever));
  const outer = task({ name: "outer", rollback: undo }, marked(inner));
  await cancelAndCrashEverywhere(
    async () => parallel([() => charge(1), () => outer(0), () => pause("p"), () => sleep("1h")]),
    ["parallel~1/charge~1", "parallel~1/outer~1"],
  );
});

test("EXE-42 an execution that is cancelled before its code began is CANCELLED, and its code never begins", async () => {
  let begun = 0;
  const scene = new Scene([
    workflow({ name: "w" }, async () => {
      begun++;
      return "done";
    }),
  ]);
  scene.onDelta = () => {
    // The first copy is lost with what it was about to say.
    scene.onDelta = () => {};
    scene.engine.cancel("e1");
    scene.engine.fence("e1");
  };
  await scene.run();
  expect(scene.row().state).toBe("CANCELLED");
  expect(scene.types()).not.toContain("WORKFLOW_STARTED");
  expect(begun).toBe(1);
});

test("EXE-27 I7 code that calls on between an outcome and a cancel of one commit hears of both in turn", async () => {
  const after = task({ name: "after" }, async () => "ran");
  const heard: string[] = [];
  // Beside it a task runs, so that the copy is there when both come at once.
  const wf = workflow({ name: "w" }, async () => {
    void hangs();
    await signal("go");
    heard.push("signal");
    await after().catch((error: Error) => {
      heard.push(error.name);
      throw error;
    });
  });
  const scene = new Scene([wf]);
  await scene.start();
  scene.engine.signal("e1", "go", null);
  scene.engine.cancel("e1");
  await scene.toEnd();
  expect(scene.row().state).toBe("CANCELLED");
  expect(heard).toEqual(["signal", "CancelledError"]);
  expect(scene.story()).not.toContain("TASK_STARTED after~1");
});

/** Time of the scene's clock passes inside a function of a task. */
function sleepFor({ clock }: Scene, ms: number): Promise<void> {
  return new Promise((resolve) => void clock.host.setTimer(resolve, ms));
}
