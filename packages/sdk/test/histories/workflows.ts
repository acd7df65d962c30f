/**
 * The workflows behind the recorded histories of this folder, one per behaviour that was released.
 * A history replays on the workflow of its name for ever: a workflow here is never changed, a new
 * behaviour gets a new one (`npm run record-histories -w @engine/sdk`).
 */
import {
  type AnyWorkflow,
  call,
  getConfig,
  graph,
  map,
  now,
  parallel,
  pause,
  pipeline,
  random,
  signal,
  sleep,
  type Task,
  TaskError,
  TerminalError,
  task,
  uuid,
  workflow,
} from "@engine/sdk";
import { type TestEngine, type TestEngineOptions, testEngine } from "@engine/sdk/testing";

export interface Golden {
  readonly name: string;
  readonly workflow: AnyWorkflow;
  /** Calls after which its copy is lost, so that the history has more than one. */
  readonly crashes: readonly string[];
  /** Makes the execution, which is `e1`; a test may add trouble. */
  readonly record: (
    trouble?: TestEngineOptions,
    prepare?: (engine: TestEngine) => void,
  ) => Promise<TestEngine>;
}

export const goldens: Golden[] = [];

function golden(
  wf: AnyWorkflow,
  drive: (engine: TestEngine) => Promise<unknown>,
  { crashes = [], ...options }: TestEngineOptions & Partial<Golden> = {},
): void {
  const record: Golden["record"] = async (trouble, prepare) => {
    const engine = testEngine({ skipTime: true, ...options, ...trouble });
    for (const id of crashes) engine.crashAfter(id);
    prepare?.(engine);
    await drive(engine);
    return engine;
  };
  goldens.push({ name: wf.name.replaceAll("_", "-"), workflow: wf, crashes, record });
}

/** Runs it and leaves it where it comes to rest. */
const run =
  (wf: AnyWorkflow, input?: unknown) =>
  (engine: TestEngine): Promise<unknown> =>
    engine.run(wf, input);

const double = task({ name: "double" }, async (n: number) => n * 2);
const join = task({ name: "join" }, async (parts: readonly unknown[]) => parts.join("-"));
const fail: Task<string, never> = task({ name: "fail" }, async (reason: string): Promise<never> => {
  throw new RangeError(reason);
});
/** Returns only when it is told that it is given up. */
const patient = task({ name: "patient" }, (_: undefined, { signal: given }) => {
  return new Promise<never>((_resolve, reject) => {
    given.addEventListener("abort", () => reject(given.reason));
  });
});

const sequence = workflow({ name: "sequence" }, async (n: number) => {
  const first = await double(n);
  const second = await double(first);
  return join([first, second]);
});
golden(sequence, run(sequence, 4));

const values = workflow({ name: "values" }, async (input: Map<string, unknown>) => {
  const echo = task({ name: "echo" }, async (value: unknown) => value);
  return [
    await echo(input),
    await echo(new Date(86_400_000)),
    await echo(new Set([1n, -0, Number.NaN])),
    await echo({ bytes: new Uint8Array([1, 2]), url: new URL("https://example.org/a") }),
    await echo(undefined),
    await echo(new RangeError("kept", { cause: new Error("below") })),
  ];
});
golden(values, run(values, new Map([["a", [null, "b"]]])));

const retries = workflow({ name: "retries" }, async () => {
  const flaky = task(
    { name: "flaky", retry: { maxAttempts: 4, delay: "200ms", backoff: 30 } },
    async (succeeds: number, { attempt }) => {
      if (attempt < succeeds) throw new Error(`attempt ${attempt}`);
      return attempt;
    },
  );
  const good = await flaky(3);
  const bad = await flaky(9).catch((error: TaskError) => error.failure.attempts);
  return [good, bad];
});
golden(retries, run(retries));

const undone = workflow({ name: "undone" }, async () => {
  const book = task(
    {
      name: "book",
      retry: { maxAttempts: 2, delay: "2s" },
      rollback: async () => {},
      fallback: async (place: string, { message }) => `${place} instead: ${message}`,
    },
    async (place: string): Promise<string> => {
      throw new RangeError(`no room at the ${place}`);
    },
  );
  const stuck = task(
    {
      name: "stuck",
      rollback: async () => {
        throw new TerminalError("cannot be undone");
      },
    },
    async () => {
      throw new TerminalError("cannot be done");
    },
  );
  return [await book("harbour"), await stuck().catch((error: Error) => error.message)];
});
golden(undone, run(undone));

const branches = workflow({ name: "branches" }, async () => {
  const both = await parallel([() => double(1), async () => join([await double(2), 3])]);
  const three = await map([1, 2, 3], (n) => double(n), { concurrency: 2 });
  const settled = await parallel([() => double(4), () => fail("no")], { settle: true });
  return [both, three, settled.map(({ status }) => status)];
});
golden(branches, run(branches));

const givenUpSibling = workflow({ name: "given_up_sibling" }, async () => {
  try {
    await parallel([() => patient(), () => fail("first"), () => sleep("5h")]);
  } catch (error) {
    return [error instanceof TaskError && error.failure.type, await double(1)];
  }
  return null;
});
golden(givenUpSibling, run(givenUpSibling));

const piped = workflow({ name: "piped" }, async (n: number) =>
  pipeline(
    n,
    double,
    (m: number) => m + 1,
    (m: number) => join([n, m]),
  ),
);
golden(piped, run(piped, 3));

const etl = graph("etl", {
  extract: { run: (rows: number) => double(rows) },
  check: { after: ["extract"], run: (rows: number) => double(rows) },
  load: { after: ["extract"], when: ({ extract }) => Number(extract) > 0, run: () => double(7) },
  skip: { after: ["extract"], when: ({ extract }) => Number(extract) < 0, run: () => double(8) },
  below: { after: ["skip"], run: () => double(9) },
  report: {
    after: ["check", "load", "below"],
    run: (up: Readonly<Record<string, unknown>>) => join(Object.entries(up).flat()),
  },
});
const graphed = workflow({ name: "graphed" }, async (rows: number) => etl(rows));
golden(graphed, run(graphed, 2));

const race = workflow({ name: "race" }, async () => {
  const slow = task({ name: "slow" }, async () => {
    await new Promise((resolve) => setTimeout(resolve, 30));
    return "slow";
  });
  const winner = await Promise.race([slow(), double(1)]);
  // The loser's outcome comes while this runs.
  return [winner, await slow()];
});
golden(race, run(race));

const forgotten = workflow({ name: "forgotten" }, async () => {
  void patient();
  return double(1);
});
golden(forgotten, run(forgotten), { log: () => {} });

const asks = async (name: string) => pause<string>(name, { output: { asks: name } });
const paused = workflow({ name: "paused" }, async () => [
  await asks("first"),
  await asks("second"),
]);
golden(paused, async (engine) => {
  await engine.run(paused);
  await engine.resume("e1", "one");
  await engine.resume("e1");
});

const stillPaused = workflow({ name: "still_paused" }, async () => [
  await double(1),
  await asks("boss"),
]);
golden(stillPaused, run(stillPaused));

const pausedTogether = workflow({ name: "paused_together" }, async () =>
  parallel([() => asks("left"), () => asks("right"), () => double(2)]),
);
golden(pausedTogether, async (engine) => {
  await engine.run(pausedTogether);
  await engine.resume("e1", "R", { pause: "right" });
  await engine.resume("e1", "L", { pause: "left" });
});

const pauseWoken = workflow({ name: "pause_woken" }, async () => [
  await pause("a", { after: "2d" }),
  await pause("b", { until: new Date("2026-02-01T00:00:00Z") }),
]);
golden(pauseWoken, async (engine) => {
  await engine.run(pauseWoken);
  await engine.advance("40d");
});

const sleeps = workflow({ name: "sleeps" }, async () => {
  await sleep("3d");
  await sleep("250ms");
  await sleep(new Date("2020-01-01T00:00:00Z"));
  await parallel([() => sleep("1h"), () => sleep("30ms"), () => double(1)]);
  return new Date();
});
golden(sleeps, run(sleeps));

const timers = workflow({ name: "timers" }, async () => {
  const ticks: number[] = [];
  await new Promise((resolve) => setTimeout(resolve, 300));
  const late = setTimeout(() => ticks.push(-1), 500);
  await new Promise<void>((resolve) => {
    const every = setInterval(() => {
      ticks.push(Date.now());
      if (ticks.length < 3) return;
      clearInterval(every);
      resolve();
    }, 100);
  });
  clearTimeout(late);
  const timeout = new Promise((resolve) => setTimeout(resolve, 7_200_000, "late"));
  return [ticks, await Promise.race([double(2), timeout])];
});
golden(timers, run(timers), { log: () => {} });

const signals = workflow({ name: "signals" }, async () => {
  const early = await signal("paid");
  const late = await signal("shipped");
  const never = await signal("returned", { timeout: "2d" });
  return [early, late, never];
});
golden(signals, async (engine) => {
  const running = engine.run(signals);
  await engine.signal("e1", "paid", { cents: 5 });
  await running;
  await engine.signal("e1", "other");
  await engine.signal("e1", "shipped", "parcel");
  await engine.advance("2d");
});

const leaf = workflow({ name: "leaf" }, async (n: number) => {
  if (n < 0) await fail(`below zero: ${n}`);
  if (n === 0) await pause("zero");
  await sleep("1h");
  return double(n);
});
const children = workflow({ name: "children" }, async () => {
  const one = await call(leaf, 1);
  const failed = await call(leaf, -1).catch((error: TaskError) => error.failure.type);
  const id = await call(leaf, 3, { wait: false, detach: true, name: "left alone" });
  const missing = await call("default/nowhere").catch((error: TaskError) => error.failure.type);
  const [both] = await parallel([() => call(leaf, 4), () => call("leaf", 5)]);
  return [one, failed, typeof id, missing, both];
});
golden(children, run(children));

const childCancelled = workflow({ name: "child_cancelled" }, async () => {
  const zero = call(leaf, 0).catch((error: TaskError) => error.failure.type);
  return [await double(1), await zero];
});
golden(childCancelled, async (engine) => {
  const { waiting } = await engine.run(childCancelled);
  await engine.cancel(waiting[0]?.execution_id ?? "");
  await engine.advance(0);
});

const pausedUntilEnd = workflow({ name: "paused_until_end" }, async () => {
  const other = await call(leaf, 0, { wait: false });
  return pause("other", { onComplete: other });
});
golden(pausedUntilEnd, async (engine) => {
  await engine.run(pausedUntilEnd);
  await engine.resume("e2");
  await engine.advance("2h");
});

const cancelled = workflow({ name: "cancelled" }, async () => {
  const held = task(
    { name: "held", rollback: async () => {} },
    (_: undefined, { signal: given }) =>
      new Promise<never>((_resolve, reject) => {
        given.addEventListener("abort", () => reject(given.reason));
      }),
  );
  try {
    await parallel([() => held(), () => sleep("1d"), () => asks("boss")]);
  } finally {
    await double(5);
  }
});
golden(
  cancelled,
  async (engine) => {
    const running = engine.run(cancelled);
    await engine.advance(1);
    await engine.cancel("e1", { reason: "enough" });
    await running;
  },
  { skipTime: false },
);

const cancelledAsleep = workflow({ name: "cancelled_asleep" }, async () => sleep("9d"));
golden(
  cancelledAsleep,
  async (engine) => {
    await engine.run(cancelledAsleep);
    await engine.cancel("e1");
  },
  { skipTime: false },
);

const tooLong = workflow({ name: "too_long", timeout: "1d" }, async () => sleep("2d"));
golden(tooLong, run(tooLong));

const timedOut = workflow({ name: "timed_out" }, async () => {
  const hangs = task(
    { name: "hangs", timeout: "1s", retry: { maxAttempts: 2, delay: "1h" } },
    () => new Promise<never>(() => {}),
  );
  return hangs().catch((error: TaskError) => error.failure.type);
});
golden(timedOut, async (engine) => {
  const running = engine.run(timedOut);
  await engine.advance("3h");
  await running;
});

const nested = workflow({ name: "nested" }, async () => {
  const outer = task(
    { name: "outer", retry: { maxAttempts: 2, delay: "1s" } },
    async (n: number, { attempt }) => {
      const parts = await parallel([() => double(n), () => double(attempt)]);
      await sleep("2h");
      if (attempt === 1) throw new Error("again");
      return join([...parts, await uuid()]);
    },
  );
  return outer(3);
});
golden(nested, run(nested), { crashes: ["outer~1/parallel~1/double~1"] });

const recorded = workflow({ name: "recorded" }, async () => [
  await now(),
  await random(),
  await random(1, 6),
  await uuid(),
  await getConfig("rate"),
  Date.now(),
  Math.random(),
  crypto.randomUUID(),
]);
golden(recorded, run(recorded), { configs: { rate: { vat: 19 } } });

const lost = workflow({ name: "lost" }, async () => {
  const first = await double(1);
  await sleep("1h");
  return join([first, await double(2), await map([3, 4], (n) => double(n))]);
});
golden(lost, run(lost), { crashes: ["double~1", "sleep~1", "map~1/double~2"] });

let drift = 0;
const argumentChanged = workflow({ name: "argument_changed" }, async () => {
  const first = await double(++drift);
  return join([first, await double(2)]);
});
golden(
  argumentChanged,
  async (engine) => {
    drift = 0;
    await engine.run(argumentChanged);
  },
  { crashes: ["double~2"] },
);

const cached = workflow({ name: "cached" }, async () => {
  const price = task({ name: "price", cache: { ttl: "1h" } }, async (item: string) => item.length);
  const twice = [await price("salt"), await price("salt")];
  await sleep("2h");
  return [...twice, await price("salt")];
});
golden(cached, run(cached));

const failed = workflow({ name: "failed" }, async () => {
  await double(1);
  await fail("for good");
});
golden(failed, run(failed));

const transient = workflow({ name: "transient", durability: "transient" }, async (n: number) =>
  join([await double(n), await double(n + 1)]),
);
golden(transient, run(transient, 1));
