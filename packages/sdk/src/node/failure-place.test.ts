import type { Event, Failure } from "@engine/contract";
import { expect, test } from "vitest";
import {
  call,
  map,
  parallel,
  pause,
  type TaskError,
  TerminalError,
  task,
  workflow,
} from "../index.ts";
import { nodeHost } from "./host.ts";
import { replayHistory } from "./replay-history.ts";
import { MemoryExecution } from "./testing/memory-execution.ts";
import { run } from "./testing/run-in-memory.ts";

/** `at` of a failure as a test writes it: the line of the file whose text is `marked`. */
const HERE = "packages/sdk/src/node/failure-place.test.ts";

interface Told {
  readonly failure: Failure;
  readonly stack: string[] | undefined;
}

/** What the events of a type tell, in the order of the log. */
function told(events: readonly Event[], type: string): Told[] {
  return events
    .filter((event) => event.type === type)
    .map(({ value, meta }) => {
      const failure = ((value as { error?: Failure }).error ?? value) as Failure;
      return { failure, stack: (meta?.["stack"] as string | undefined)?.split("\n") };
    });
}

function placeOf(failure: Failure | null | undefined): unknown {
  return failure?.details?.["at"];
}

/** The line that called this, as failures name it, at another column. */
function lineOf(error: Error): RegExp {
  const [, line] = /failure-place\.test\.ts:(\d+):\d+/.exec(error.stack ?? "") ?? [];
  return new RegExp(`^${HERE}:${line}:\\d+$`);
}

test("EXE-35 a task that fails in a helper two calls deep says the line, and its event the lines that led there", async () => {
  const divide = (order: { total?: { b: number } }) => order.total?.b ?? fail();
  const fail = (): never => {
    throw new RangeError("secret-4711");
  };
  const charge = task({ name: "charge" }, async () => divide({}));
  const { row, events } = await run(workflow({ name: "w" }, async () => charge()));
  const [{ failure, stack } = expect.unreachable()] = told(events, "TASK_FAILED");
  expect(failure).toMatchObject({ type: "RangeError", details: { at: expect.any(String) } });
  expect(placeOf(failure)).toMatch(new RegExp(`^${HERE}:\\d+:\\d+$`));
  expect(stack?.slice(0, 2)).toEqual([
    `at fail (${placeOf(failure)})`,
    expect.stringMatching(new RegExp(`^at divide \\(${HERE}:\\d+:\\d+\\)$`)),
  ]);
  expect(stack?.join(), "a stack repeats no message").not.toContain("4711");
  expect(placeOf(row.failure), "the execution fails where its task did").toBe(placeOf(failure));
  expect(JSON.stringify(events)).not.toMatch(/file:|\/home|\/tmp|node:internal/);
});

test("EXE-35 a body that fails says the line in the execution's failure, with its stack", async () => {
  let made: Error | undefined;
  const wf = workflow({ name: "w" }, async () => {
    made = new TypeError("no");
    throw made;
  });
  const { row, events } = await run(wf);
  expect(placeOf(row.failure)).toMatch(lineOf(made as Error));
  expect(told(events, "WORKFLOW_FAILED")[0]?.stack?.[0]).toContain(placeOf(row.failure));
});

test("EXE-35 of an error that Node throws the first line is that of the author's own code", async () => {
  const parse = task({ name: "parse" }, async () => new URL("no address"));
  const { row, events } = await run(workflow({ name: "w" }, async () => parse()));
  expect(placeOf(row.failure)).toMatch(new RegExp(`^${HERE}:\\d+:\\d+$`));
  expect(JSON.stringify(events)).not.toContain("node:");
});

test("EXE-35 a callback that rejects later says its own line", async () => {
  const late = task({ name: "late" }, async () => {
    await new Promise((_, reject) => {
      setTimeout(function deadline() {
        reject(new Error("late"));
      }, 1);
    });
  });
  const { events } = await run(workflow({ name: "w" }, async () => late()));
  expect(told(events, "TASK_FAILED")[0]?.stack?.[0]).toMatch(
    new RegExp(`^at \\S*deadline \\S*\\s?.*${HERE}:\\d+:\\d+\\)$`),
  );
});

test("EXE-35 what is thrown without being an error has no place", async () => {
  const fails = task({ name: "fails" }, () => Promise.reject("text"));
  const { row, events } = await run(workflow({ name: "w" }, async () => fails()));
  expect(row.failure).toMatchObject({ type: "NonError", message: "text", details: null });
  expect(told(events, "TASK_FAILED")[0]?.stack).toBeUndefined();
});

test("EXE-35 causes say their own lines, and the stack goes on with theirs", async () => {
  let inner: Error | undefined;
  const fails = task({ name: "fails" }, async () => {
    try {
      inner = new RangeError("inside");
      throw inner;
    } catch (cause) {
      throw new Error("outside", { cause });
    }
  });
  const { events } = await run(workflow({ name: "w" }, async () => fails()));
  const [{ failure, stack } = expect.unreachable()] = told(events, "TASK_FAILED");
  expect(placeOf(failure.cause)).toMatch(lineOf(inner as Error));
  expect(placeOf(failure)).not.toBe(placeOf(failure.cause));
  const cut = stack?.indexOf("caused by RangeError") ?? -1;
  expect(stack?.[0]).toContain(placeOf(failure));
  expect(stack?.[cut + 1]).toContain(placeOf(failure.cause));
});

test("EXE-35 an error that collects others, and has no line of its own, says the first one's", async () => {
  let first: Error | undefined;
  const fails = task({ name: "fails" }, async () => {
    first = new Error("a");
    await Promise.any([Promise.reject(first), Promise.reject(new Error("b"))]);
  });
  const { row } = await run(workflow({ name: "w" }, async () => fails()));
  expect(row.failure?.type).toBe("AggregateError");
  expect(placeOf(row.failure)).toMatch(lineOf(first as Error));
});

test("EXE-35 an error that was made elsewhere than it is thrown says where it was made", async () => {
  const kept = new Error("kept");
  const fails = task({ name: "fails" }, async () => {
    throw kept;
  });
  const wf = workflow({ name: "w" }, async () => {
    await fails().catch(() => {});
    await fails();
  });
  const { events } = await run(wf);
  const places = told(events, "TASK_FAILED").map(({ failure }) => placeOf(failure));
  expect(places).toEqual([expect.stringMatching(lineOf(kept)), places[0]]);
});

test("EXE-36 details that the author gave are kept beside the place, and an `at` of their own stays", async () => {
  const details = { code: 51, when: new Date(0), rest: { list: [1] } };
  const declined = task({ name: "declined" }, async () => {
    throw new TerminalError("declined", { type: "Declined", details });
  });
  const late = task({ name: "late" }, async () => {
    throw new TerminalError("late", { details: { at: "12:30" } });
  });
  const seen: unknown[] = [];
  const wf = workflow({ name: "w" }, async () => {
    for (const fails of [declined, late]) {
      await fails().catch((error: TaskError) => seen.push(error.failure.details));
    }
  });
  const { events } = await run(wf);
  expect(seen).toEqual([
    {
      code: 51,
      when: "1970-01-01T00:00:00.000Z",
      rest: { list: [1] },
      at: expect.stringMatching(HERE),
    },
    { at: "12:30" },
  ]);
  expect(told(events, "TASK_FAILED")[1]?.stack?.[0]).toContain(HERE);
});

test("EXE-38 attempts that fail each at another place say so each, with every stack told", async () => {
  const fails = task(
    { name: "fails", retry: { maxAttempts: 3, delay: 0 } },
    async (_, { attempt }) => {
      if (attempt === 1) throw new Error("first");
      if (attempt === 2) throw new Error("second");
      throw new Error("third");
    },
  );
  const { events } = await run(workflow({ name: "w" }, async () => fails()));
  const started = told(events, "TASK_RETRY_STARTED");
  const failed = told(events, "TASK_RETRY_FAILED");
  const [end = expect.unreachable()] = told(events, "TASK_FAILED");
  const places = [started[0], failed[0], failed[1]].map((each) => placeOf(each?.failure));
  expect(new Set(places).size).toBe(3);
  expect(placeOf(started[1]?.failure)).toBe(places[1]);
  expect(placeOf(end.failure)).toBe(places[2]);
  const stacks = [started[0], failed[0], started[1], failed[1], end].map(
    (each) => each?.stack?.[0],
  );
  expect(stacks).toEqual([
    expect.stringContaining(String(places[0])),
    expect.stringContaining(String(places[1])),
    undefined,
    expect.stringContaining(String(places[2])),
    expect.stringContaining(String(places[2])),
  ]);
});

test("EXE-39 rollback, fallback and retryIf that fail say their own lines beside the first one's", async () => {
  const broken = (what: string) => () => {
    throw new Error(what);
  };
  const undone = task({ name: "undone", rollback: broken("rollback") }, broken("undone"));
  const replaced = task({ name: "replaced", fallback: broken("fallback") }, async () => {
    throw new Error("replaced");
  });
  const judged = task(
    { name: "judged", retry: { maxAttempts: 2, retryIf: broken("retryIf") } },
    async () => {
      throw new Error("judged");
    },
  );
  const wf = workflow({ name: "w" }, async () => {
    for (const fails of [undone, replaced, judged]) await fails().catch(() => {});
  });
  const { events } = await run(wf);
  const [first, second, third] = told(events, "TASK_FAILED").map(({ failure }) => failure);
  const { rollback } = (first?.details ?? {}) as { rollback: Failure };
  expect(placeOf(rollback)).toBe(placeOf(first));
  expect(placeOf(second?.cause)).toMatch(HERE);
  expect(placeOf(second)).not.toBe(placeOf(second?.cause));
  const { retry_if } = (third?.details ?? {}) as { retry_if: Failure };
  expect(placeOf(retry_if)).toBe(placeOf(second));
  for (const type of ["TASK_ROLLBACK_STARTED", "TASK_ROLLBACK_FAILED", "TASK_FALLBACK_STARTED"]) {
    expect(told(events, type)[0]?.stack?.[0], type).toContain(HERE);
  }
});

test("EXE-55 a parent is told where its child failed", async () => {
  const child = workflow({ name: "child" }, async () => {
    throw new Error("no stock");
  });
  const parent = workflow({ name: "w" }, async () => call(child));
  const execution = new MemoryExecution(parent, null, nodeHost(), { children: [child] });
  await execution.run();
  await execution.engine.claim("e2").ended;
  await execution.run();
  expect(execution.row.failure).toMatchObject({
    type: "ChildFailedError",
    details: { execution_id: "e2" },
    cause: { details: { at: expect.stringMatching(HERE) } },
  });
});

test("EXE-47 a call whose argument cannot be stored says the line that makes the call", async () => {
  const idle = task({ name: "idle" }, async (_: unknown) => 0);
  let made: Error | undefined;
  const wf = workflow({ name: "w" }, async () => {
    made = new Error();
    await idle(() => {});
  });
  const { row } = await run(wf);
  const [, line = 0] = /:(\d+):\d+$/.exec(String(placeOf(row.failure))) ?? [];
  const [, before = 0] = /failure-place\.test\.ts:(\d+):/.exec(made?.stack ?? "") ?? [];
  expect(Number(line)).toBe(Number(before) + 1);
});

test("EXE-36 what a body catches is the same on a replay whose stacks are shorter, from its tasks and from its own branches", async () => {
  const seen: unknown[] = [];
  const fails = task({ name: "fails" }, async () => {
    throw new Error("in a task");
  });
  const own = () => {
    throw new Error("in a branch");
  };
  const wf = workflow({ name: "w" }, async () => {
    const note = (error: TaskError) => seen.push(error.failure);
    await fails().catch(note);
    await parallel([fails]).catch(note);
    await parallel([own]).catch(note);
    seen.push(await map([1], own, { settle: true }));
    await pause("p");
  });
  const execution = await run(wf);
  execution.resume(null);
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  await execution.run();
  Error.stackTraceLimit = stackTraceLimit;
  expect(execution.row.state).toBe("COMPLETED");
  expect(seen).toHaveLength(8);
  expect(seen.slice(4)).toEqual(seen.slice(0, 4));
  const [inTask, inParallel, inBranch] = seen as Failure[];
  expect([placeOf(inTask), placeOf(inParallel)]).toEqual([
    expect.stringMatching(HERE),
    placeOf(inTask),
  ]);
  expect(inBranch?.details, "made anew in each pass, so it names no line").toBeNull();
});

test("EXE-35 a branch's own error that nobody catches names its line in the execution's failure", async () => {
  let made: Error | undefined;
  const wf = workflow({ name: "w" }, async () => {
    const branch = () => {
      made = new Error("in a branch", { cause: new Error("deep") });
      throw made;
    };
    await parallel([() => map([1], branch)]);
  });
  const { row, events } = await run(wf);
  expect(placeOf(row.failure)).toMatch(lineOf(made as Error));
  expect(placeOf(row.failure?.cause)).toMatch(lineOf(made as Error));
  expect(row.failure?.task_call_id).toBe("parallel~1");
  expect(told(events, "WORKFLOW_FAILED")[0]?.stack?.[0]).toContain(placeOf(row.failure));
  for (const { failure, stack } of told(events, "TASK_FAILED")) {
    expect(failure.details).toBeNull();
    expect(stack?.[0]).toContain(placeOf(row.failure));
  }
});

test("EXE-28 a version whose lines lie elsewhere replays a log whose failures name the lines of before", async () => {
  const report = task({ name: "report" }, async (of: unknown) => of);
  const versions = [
    () => {
      throw new Error("no");
    },
    // Some lines below.
    () => {
      throw new Error("no");
    },
  ].map((branch) => {
    const fails = task({ name: "fails" }, async () => branch());
    return workflow({ name: "w" }, async () => {
      const failures: Failure[] = [];
      const note = (error: TaskError) => failures.push(error.failure);
      await fails().catch(note);
      await parallel([branch]).catch(note);
      const [settled] = await parallel([branch], { settle: true });
      await report([failures, settled]);
      await pause("p");
      throw new Error("the end");
    });
  });
  const [before, after] = versions as [(typeof versions)[0], (typeof versions)[0]];
  const execution = await run(before);
  execution.resume(null);
  await execution.run();
  expect(execution.row.state).toBe("FAILED");
  const { row, events } = execution;
  const history = { execution: { ...row, transient: false }, seed: row.seed, events };
  expect(await replayHistory(after, history as never)).toEqual({ result: "ok" });

  const moved = new MemoryExecution(after, null, nodeHost());
  const upToPause = events.findIndex(({ type }) => type === "WORKFLOW_PAUSED");
  moved.engine.logs.set("e1", events.slice(0, upToPause + 1));
  moved.engine.rows.set("e1", { ...moved.row, ...pausedAt(execution, upToPause + 1) });
  moved.resume(null);
  await moved.run();
  expect(moved.row.failure?.message).toBe("the end");
  expect(moved.types, "its arguments are those of before").not.toContain("WORKFLOW_WARNING");
});

function pausedAt(execution: MemoryExecution, head: number) {
  const { row } = execution.cutAt(head);
  return { ...row, head };
}

const STRANGE: readonly [string, () => unknown, string | undefined][] = [
  [
    "a stack that throws",
    () => Object.defineProperty(new Error("no"), "stack", { get: () => fail() }),
    undefined,
  ],
  ["a stack that is no text", () => Object.assign(new Error("no"), { stack: 42 }), undefined],
  ["no stack", () => Object.assign(new Error("no"), { stack: undefined }), undefined],
  [
    "a message that looks like a line",
    () => new Error("no\n    at fake (/srv/secret/fake.ts:1:1)\n    at b (/srv/fake.ts:2:2)"),
    HERE,
  ],
  ["a message of 4 MB", () => new Error("n".repeat(1 << 22)), HERE],
  [
    "a stack of 10,000 lines",
    () =>
      Object.assign(new Error("no"), {
        stack: `Error: no\n${"    at many (/srv/app/many.ts:1:1)\n".repeat(10_000)}`,
      }),
    "many.ts",
  ],
];

function fail(): never {
  throw new Error("a getter");
}

test.each(STRANGE)("EXE-35 an error with %s fails like any other", async (_, make, place) => {
  const fails = task({ name: "fails" }, async () => {
    throw make();
  });
  const { row, events } = await run(workflow({ name: "w" }, async () => fails()));
  expect(row.failure?.type).toBe("Error");
  if (place === undefined) expect(row.failure?.details).toBeNull();
  else expect(placeOf(row.failure)).toMatch(new RegExp(`^${place}:\\d+:\\d+$`));
  const stack = told(events, "TASK_FAILED")[0]?.stack ?? [];
  expect(stack.length).toBeLessThanOrEqual(20);
  expect(stack.join("\n")).not.toContain("/srv");
});

test("EXE-35 a stack with those of its causes takes 4 KiB at most, in whole lines", async () => {
  const long = (n: number): Error =>
    Object.assign(new Error("no", n === 0 ? {} : { cause: long(n - 1) }), {
      stack: `Error: no\n${`    at ${"f".repeat(200)} (/srv/app/many.ts:${n}:1)\n`.repeat(30)}`,
    });
  const fails = task({ name: "fails" }, () => Promise.reject(long(5)));
  const { events } = await run(workflow({ name: "w" }, async () => fails()));
  const stack = told(events, "TASK_FAILED")[0]?.stack ?? [];
  expect(stack.join("\n").length).toBeLessThanOrEqual(4096);
  expect(stack.at(-1)).toMatch(/\(many\.ts:\d:1\)$/);
});

test("EXE-35 the name of a function reaches no terminal as an escape", async () => {
  const name = "\u001b[31mred";
  const fails = task({ name: "fails" }, { [name]: async () => fail() }[name] as never);
  const { events } = await run(workflow({ name: "w" }, async () => fails()));
  expect(told(events, "TASK_FAILED")[0]?.stack?.join()).toMatch(/at \S*\?\[31mred/);
});

interface Line {
  readonly message: string;
  readonly details: Record<string, unknown>;
}

/** Runs on a host that keeps what goes to the worker's log. */
async function logged(wf: Parameters<typeof run>[0]): Promise<Line[]> {
  const lines: Line[] = [];
  const host = nodeHost({
    log: (level, message, details = {}) => {
      if (level === "warn") lines.push({ message, details });
    },
  });
  await new MemoryExecution(wf, null, host).run();
  return lines;
}

test("EXE-35 the worker's log says which call failed and where, and that the execution did", async () => {
  const fails = task({ name: "fails" }, async () => {
    throw new RangeError("too far");
  });
  const lines = await logged(workflow({ name: "w" }, async () => fails()));
  const at = expect.stringMatching(`^${HERE}:\\d+:\\d+$`);
  expect(lines).toEqual([
    {
      message: "a task failed",
      details: {
        execution_id: "e1",
        workflow: "default/w",
        task_call_id: "fails~1",
        attempt: 1,
        error: "RangeError: too far",
        at,
        stack: expect.arrayContaining([expect.stringContaining(HERE)]),
      },
    },
    {
      message: "an execution failed",
      details: {
        execution_id: "e1",
        workflow: "default/w",
        task_call_id: "fails~1",
        error: "RangeError",
        at,
      },
    },
  ]);
});

test("SEC-8 the worker's log repeats no message of a sensitive task, nor does a stack", async () => {
  const fails = task(
    { name: "fails", sensitive: true, retry: { maxAttempts: 2, delay: 0 } },
    async () => {
      throw new RangeError("card 4711");
    },
  );
  const lines = await logged(workflow({ name: "w" }, async () => fails()));
  expect(lines.map(({ details }) => details["error"])).toEqual(["RangeError", "RangeError"]);
  expect(JSON.stringify(lines)).not.toContain("4711");
});

test("the worker's log names a place once for each execution, and twenty at most", async () => {
  const fails = task({ name: "fails" }, async (n: number) => {
    throw Object.assign(new Error(`${n}`), { stack: `Error: ${n}\n    at f (/srv/f.ts:${n}:1)` });
  });
  const wf = workflow({ name: "w" }, async () => {
    for (let n = 1; n <= 60; n++) await fails(n >> 1).catch(() => {});
  });
  const lines = await logged(wf);
  expect(lines).toHaveLength(20);
  expect(lines.map(({ details }) => details["at"]).slice(0, 3)).toEqual([
    "f.ts:0:1",
    "f.ts:1:1",
    "f.ts:2:1",
  ]);
  expect(lines.at(-1)?.message).toMatch(/further ones of this execution are in its own log only/);
});
